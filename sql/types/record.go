package types

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/tallydb/tallydb/sql/sqlerr"
)

// A record is stored in KindBytes as
//
//	count   uvarint, of its fields
//	fields  uvarint OID, uvarint length of the name and the name, and the value as an
//	        element of an array is stored
//
// Records live in queries only: no column of a table has their type.

// Field is one of a record's. Its name is empty where nobody gave one.
type Field struct {
	Name  string
	Value Datum
}

// NewRecord returns a value of type record.
func NewRecord(fields []Field) Datum {
	b := binary.AppendUvarint(nil, uint64(len(fields)))
	for _, f := range fields {
		b = binary.AppendUvarint(b, uint64(f.Value.Type.OID))
		b = append(binary.AppendUvarint(b, uint64(len(f.Name))), f.Name...)
		b = appendElement(b, f.Value.Type.Kind(), f.Value)
	}
	return Datum{Type: Of(Record), Bytes: b}
}

// RecordFields reads a value of type record. Values alias its bytes.
func RecordFields(d Datum) ([]Field, error) {
	corrupt := sqlerr.New(sqlerr.DataCorrupted, "record value is damaged")
	n, k := binary.Uvarint(d.Bytes)
	if k <= 0 || n > uint64(len(d.Bytes)) {
		return nil, corrupt
	}
	b := d.Bytes[k:]
	out := make([]Field, n)
	for i := range out {
		oid, k := binary.Uvarint(b)
		if k <= 0 {
			return nil, corrupt
		}
		length, m := binary.Uvarint(b[k:])
		if m <= 0 || length > uint64(len(b)-k-m) {
			return nil, corrupt
		}
		b = b[k+m:]
		out[i].Name = string(b[:length])
		var ok bool
		if out[i].Value, b, ok = readElement(b[length:], Of(OID(oid))); !ok {
			return nil, corrupt
		}
	}
	return out, nil
}

// compareRecords orders records as PostgreSQL's record_cmp does: by the first fields
// that differ, with NULLs equal to each other and last. Fields of different types,
// which it refuses, order by their types.
func compareRecords(a, b []byte) int {
	x, err1 := RecordFields(Datum{Bytes: a})
	y, err2 := RecordFields(Datum{Bytes: b})
	if err1 != nil || err2 != nil {
		return 0
	}
	for i := range min(len(x), len(y)) {
		s, t := x[i].Value, y[i].Value
		if s.Type.OID != t.Type.OID {
			return int(int64(s.Type.OID) - int64(t.Type.OID))
		}
		if c := Compare(s, t); c != 0 {
			return c
		}
	}
	return len(x) - len(y)
}

// appendRecordKey appends the types of the fields, whose number 0 ends, and their keys.
func appendRecordKey(dst, b []byte) []byte {
	fields, _ := RecordFields(Datum{Bytes: b})
	for _, f := range fields {
		dst = binary.BigEndian.AppendUint32(dst, uint32(f.Value.Type.OID))
	}
	dst = binary.BigEndian.AppendUint32(dst, 0)
	for _, f := range fields {
		dst = AppendDatumKey(dst, f.Value)
	}
	return dst
}

func readRecordKey(key []byte, v *Vector) ([]byte, error) {
	var fields []Field
	for {
		if len(key) < 4 {
			return nil, fmt.Errorf("key ends inside a record")
		}
		oid := OID(binary.BigEndian.Uint32(key))
		key = key[4:]
		if oid == 0 {
			break
		}
		fields = append(fields, Field{Value: Datum{Type: Of(oid)}})
	}
	for i := range fields {
		one := NewVector(fields[i].Value.Type, 1)
		var err error
		if key, err = ReadKey(key, one); err != nil {
			return nil, err
		}
		fields[i].Value = one.Datum(0)
	}
	v.AppendBytes(NewRecord(fields).Bytes)
	return key, nil
}

// appendRecordText appends (a,b,...), as record_out does.
func appendRecordText(dst []byte, d Datum, opts *TextOptions) []byte {
	fields, _ := RecordFields(d)
	dst = append(dst, '(')
	for i, f := range fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		if !f.Value.Null {
			dst = appendRecordField(dst, AppendDatumText(nil, f.Value, opts))
		}
	}
	return append(dst, ')')
}

func appendRecordField(dst, s []byte) []byte {
	if len(s) > 0 && !strings.ContainsAny(string(s), "\"\\(), \t\n\r\v\f") {
		return append(dst, s...)
	}
	dst = append(dst, '"')
	for _, c := range s {
		if c == '"' || c == '\\' {
			dst = append(dst, c)
		}
		dst = append(dst, c)
	}
	return append(dst, '"')
}

// appendRecordBinary appends the form of record_send: the number of fields, and of each
// its type, length and value.
func appendRecordBinary(dst []byte, d Datum, opts *TextOptions) []byte {
	fields, _ := RecordFields(d)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(fields)))
	for _, f := range fields {
		dst = binary.BigEndian.AppendUint32(dst, uint32(f.Value.Type.OID))
		dst = appendSized(dst, f.Value, opts)
	}
	return dst
}

// appendSized appends the length of a value in binary form, -1 for NULL, and the value.
func appendSized(dst []byte, d Datum, opts *TextOptions) []byte {
	at := len(dst)
	dst = append(dst, 0xff, 0xff, 0xff, 0xff)
	if !d.Null {
		dst = AppendDatumBinary(dst, d, opts)
		binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	}
	return dst
}
