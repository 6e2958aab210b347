package expr

import (
	"bytes"
	"crypto/md5" //nolint:gosec // md5() is a SQL function, not a safeguard
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"math/bits"
	"strings"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

func bytea(b []byte) types.Datum { return types.Datum{Type: types.Of(types.Bytea), Bytes: b} }

func bytesFunctions() []overload {
	sum := func(f func([]byte) []byte) rowFunc {
		return func(_ *Context, a []types.Datum) (types.Datum, error) { return bytea(f(a[0].Bytes)), nil }
	}
	md := func(_ *Context, a []types.Datum) (types.Datum, error) {
		h := md5.Sum(a[0].Bytes) //nolint:gosec // as above
		return text(hex.EncodeToString(h[:]))
	}
	return append(byteaFunctions(),
		fn("md5(text) text", "MD5 hash", md), fn("md5(bytea) text", "MD5 hash", md),
		fn("sha224(bytea) bytea", "SHA-224 hash", sum(func(b []byte) []byte { h := sha256.Sum224(b); return h[:] })),
		fn("sha256(bytea) bytea", "SHA-256 hash", sum(func(b []byte) []byte { h := sha256.Sum256(b); return h[:] })),
		fn("sha384(bytea) bytea", "SHA-384 hash", sum(func(b []byte) []byte { h := sha512.Sum384(b); return h[:] })),
		fn("sha512(bytea) bytea", "SHA-512 hash", sum(func(b []byte) []byte { h := sha512.Sum512(b); return h[:] })),
		fn("encode(bytea,text) text", "binary as text", encodeBytes), fn("decode(text,text) bytea", "text as binary", decodeBytes),
		fn("convert_from(bytea,text) text", "bytes in an encoding as text", func(_ *Context, a []types.Datum) (types.Datum, error) {
			if !isUTF8Name(str(a[1])) {
				return types.Datum{}, sqlerr.New(sqlerr.FeatureNotSupported, "encoding %q is not supported", str(a[1]))
			}
			return types.Parse(types.Of(types.Text), a[0].Bytes, nil)
		}),
		fn("convert_to(text,text) bytea", "text as bytes in an encoding", func(_ *Context, a []types.Datum) (types.Datum, error) {
			if !isUTF8Name(str(a[1])) {
				return types.Datum{}, sqlerr.New(sqlerr.FeatureNotSupported, "encoding %q is not supported", str(a[1]))
			}
			return bytea(a[0].Bytes), nil
		}),
		fn("get_byte(bytea,int4) int4", "byte at an offset", func(_ *Context, a []types.Datum) (types.Datum, error) {
			if i := a[1].Int; i >= 0 && i < int64(len(a[0].Bytes)) {
				return int4(int(a[0].Bytes[i]))
			}
			return types.Datum{}, sqlerr.New("2202E", "index %d out of valid range, 0..%d", a[1].Int, len(a[0].Bytes)-1)
		}),
		fn("set_byte(bytea,int4,int4) bytea", "with a byte at an offset replaced", func(_ *Context, a []types.Datum) (types.Datum, error) {
			i := a[1].Int
			if i < 0 || i >= int64(len(a[0].Bytes)) {
				return types.Datum{}, sqlerr.New("2202E", "index %d out of valid range, 0..%d", i, len(a[0].Bytes)-1)
			}
			out := bytes.Clone(a[0].Bytes)
			out[i] = byte(a[2].Int)
			return bytea(out), nil
		}),
		fn("bit_count(bytea) int8", "number of bits that are set", func(_ *Context, a []types.Datum) (types.Datum, error) {
			n := 0
			for _, b := range a[0].Bytes {
				n += bits.OnesCount8(b)
			}
			return types.IntDatum(types.Int8, int64(n)), nil
		}),
		fn("gen_random_uuid() uuid", "random UUID of version 4", func(*Context, []types.Datum) (types.Datum, error) {
			u := make([]byte, 16)
			if _, err := rand.Read(u); err != nil {
				return types.Datum{}, err
			}
			u[6], u[8] = u[6]&0x0f|0x40, u[8]&0x3f|0x80
			return types.Datum{Type: types.Of(types.UUID), Bytes: u}, nil
		}).volatile(),
	)
}

func isUTF8Name(s string) bool {
	s = strings.ToLower(s)
	return s == "utf8" || s == "utf-8" || s == "unicode" || s == "sql_ascii"
}

func badEncoding(name string) error {
	return sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized encoding: %q", name)
}

func encodeBytes(_ *Context, a []types.Datum) (types.Datum, error) {
	switch name := str(a[1]); strings.ToLower(name) {
	case "hex":
		return text(hex.EncodeToString(a[0].Bytes))
	case "base64":
		s := base64.StdEncoding.EncodeToString(a[0].Bytes)
		var b strings.Builder
		for len(s) > 76 {
			b.WriteString(s[:76] + "\n")
			s = s[76:]
		}
		return text(b.String() + s)
	case "escape":
		var b []byte
		for _, c := range a[0].Bytes {
			switch {
			case c == '\\':
				b = append(b, '\\', '\\')
			case c == 0 || c >= 0x80:
				b = append(b, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
			default:
				b = append(b, c)
			}
		}
		return text(string(b))
	default:
		return types.Datum{}, badEncoding(name)
	}
}

func decodeBytes(_ *Context, a []types.Datum) (types.Datum, error) {
	switch name := str(a[1]); strings.ToLower(name) {
	case "hex":
		b, err := types.ParseHex(a[0].Bytes)
		return bytea(b), err
	case "base64":
		s := strings.NewReplacer(" ", "", "\t", "", "\n", "", "\r", "").Replace(str(a[0]))
		b, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "invalid base64 end sequence")
		}
		return bytea(b), nil
	case "escape":
		b, err := types.ParseByteaEscape(a[0].Bytes)
		return bytea(b), err
	default:
		return types.Datum{}, badEncoding(name)
	}
}
