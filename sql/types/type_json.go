package types

import "encoding/json"

// typeJSON is a Type in stored descriptors. It is part of a format: fields are
// only added.
type typeJSON struct {
	OID      OID   `json:"oid"`
	Modifier int32 `json:"modifier"` // PostgreSQL's atttypmod, -1 for none
	Domain   OID   `json:"domain,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (t Type) MarshalJSON() ([]byte, error) {
	return json.Marshal(typeJSON{t.OID, t.Modifier(), t.domain})
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *Type) UnmarshalJSON(b []byte) error {
	j := typeJSON{Modifier: -1}
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*t = Of(j.OID).WithModifier(j.Modifier).InDomain(j.Domain)
	return nil
}
