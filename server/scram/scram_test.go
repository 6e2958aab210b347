package scram_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/tallydb/tallydb/server/scram"
)

// TestRFC7677 is the exchange that section 3 of the RFC shows.
func TestRFC7677(t *testing.T) {
	salt, err := base64.StdEncoding.DecodeString("W22ZaJ0SNY7soEsUEjb6gQ==")
	if err != nil {
		t.Fatal(err)
	}
	v, err := scram.New("pencil", salt, 4096)
	if err != nil {
		t.Fatal(err)
	}
	x := &scram.Exchange{Verifier: v, Nonce: "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"}
	first, err := x.First(scram.Mechanism, "n,,n=user,r=rOprNGfwEbeRWgbNEkqO")
	if want := "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"; err != nil || first != want {
		t.Fatalf("first: %q %v", first, err)
	}
	final, err := x.Final("c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=")
	if want := "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="; err != nil || final != want {
		t.Fatalf("final: %q %v", final, err)
	}
}

// TestStoredForm reads a verifier of 'pencil' in the form in which PostgreSQL stores them.
func TestStoredForm(t *testing.T) {
	const text = "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="
	v, ok := scram.Parse(text)
	if !ok || v.String() != text {
		t.Fatalf("%v %v", v, ok)
	}
	made, err := scram.New("pencil", v.Salt, v.Iterations)
	if err != nil || made.String() != text {
		t.Errorf("made %v %v", made, err)
	}
}

func TestParseRefuses(t *testing.T) {
	good := "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="
	for _, s := range []string{
		"", "pencil", "md5abc", "SCRAM-SHA-256$", strings.Replace(good, "4096", "0", 1), strings.Replace(good, "4096", "x", 1),
		strings.Replace(good, "4096", "99999999999", 1), strings.Replace(good, "W22", "!!!", 1), good[:len(good)-4], good + "AAAA",
	} {
		if _, ok := scram.Parse(s); ok {
			t.Errorf("%q was taken for a verifier", s)
		}
	}
}

// TestRefusals are exchanges that must not succeed.
func TestRefusals(t *testing.T) {
	v, err := scram.New("secret", []byte("salt"), 4)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		x                scram.Exchange
		mechanism, first string
	}{
		"another mechanism":        {mechanism: "SCRAM-SHA-1", first: "n,,n=,r=abc"},
		"PLUS without TLS":         {mechanism: scram.MechanismPlus, first: "p=tls-server-end-point,,n=,r=abc"},
		"binding without PLUS":     {mechanism: scram.Mechanism, first: "p=tls-server-end-point,,n=,r=abc"},
		"another binding":          {x: scram.Exchange{Binding: []byte("b")}, mechanism: scram.MechanismPlus, first: "p=tls-unique,,n=,r=abc"},
		"PLUS without binding":     {x: scram.Exchange{Binding: []byte("b")}, mechanism: scram.MechanismPlus, first: "n,,n=,r=abc"},
		"downgrade":                {x: scram.Exchange{Binding: []byte("b")}, mechanism: scram.Mechanism, first: "y,,n=,r=abc"},
		"authorization identity":   {mechanism: scram.Mechanism, first: "n,a=root,n=,r=abc"},
		"no nonce":                 {mechanism: scram.Mechanism, first: "n,,n=,r="},
		"nonce with a control":     {mechanism: scram.Mechanism, first: "n,,n=,r=a\x00"},
		"mandatory extension":      {mechanism: scram.Mechanism, first: "n,,m=x,n=,r=abc"},
		"nothing":                  {mechanism: scram.Mechanism},
		"one comma":                {mechanism: scram.Mechanism, first: "n,"},
		"a nonce that has a comma": {mechanism: scram.Mechanism, first: "n,,n=,r=a,b"},
	} {
		c.x.Verifier, c.x.Nonce = v, "server"
		if answer, err := c.x.First(c.mechanism, c.first); err == nil {
			t.Errorf("%s: answered %q", name, answer)
		}
	}
	for _, final := range []string{
		"", "p=", "c=biws,r=abcserver", "c=biws,r=abcserver,p=", "c=biws,r=abcserver,p=AAAA", "c=biws,r=other,p=" + zeros, "c=eSws,r=abcserver,p=" + zeros,
		"c=biws,r=abcserver,x=y,p=" + zeros,
	} {
		x := scram.Exchange{Verifier: v, Nonce: "server"}
		if _, err := x.First(scram.Mechanism, "n,,n=,r=abc"); err != nil {
			t.Fatal(err)
		}
		if answer, err := x.Final(final); err == nil || errors.Is(err, scram.ErrProof) {
			t.Errorf("%q: answered %q, %v", final, answer, err)
		}
	}
	x := scram.Exchange{Verifier: v, Nonce: "server"}
	if _, err := x.First(scram.Mechanism, "n,,n=,r=abc"); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Final("c=biws,r=abcserver,p=" + zeros); !errors.Is(err, scram.ErrProof) {
		t.Errorf("a wrong proof: %v", err)
	}
}

var zeros = base64.StdEncoding.EncodeToString(make([]byte, 32))

func FuzzExchange(f *testing.F) {
	f.Add("n,,n=user,r=abc", "c=biws,r=abcserver,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=")
	f.Add("p=tls-server-end-point,,n=,r=x", "c=,r=,p=")
	v, err := scram.New("secret", []byte("salt"), 4)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, first, final string) {
		for _, mechanism := range []string{scram.Mechanism, scram.MechanismPlus} {
			x := scram.Exchange{Verifier: v, Nonce: "server", Binding: []byte("b"), Doomed: true}
			if _, err := x.First(mechanism, first); err != nil {
				continue
			}
			if answer, err := x.Final(final); err == nil {
				t.Fatalf("a doomed exchange ended with %q", answer)
			}
		}
	})
}
