package statecodec

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tallydb/tallydb/sql/sqlerr"
)

func TestReader(t *testing.T) {
	b := binary.AppendUvarint([]byte{3, 9}, 300)
	b = binary.LittleEndian.AppendUint64(b, 77)
	b = append(b, "ab"...)
	r := NewReader("x", 3, b)
	if r.Byte() != 9 || r.Uvarint(300) != 300 || r.Word() != 77 || string(r.Bytes(2)) != "ab" || r.Done() != nil {
		t.Error("what was written was not read")
	}
	if r.Byte(); r.Done() == nil {
		t.Error("a byte was read behind the end")
	}
}

func TestReaderRefuses(t *testing.T) {
	for name, read := range map[string]func() error{
		"no byte":            func() error { r := NewReader("x", 1, nil); return r.Done() },
		"another version":    func() error { r := NewReader("x", 1, []byte{2}); return r.Done() },
		"a byte too many":    func() error { r := NewReader("x", 1, []byte{1, 1}); return r.Done() },
		"a long zero":        func() error { r := NewReader("x", 1, []byte{1, 0x80, 0}); r.Uvarint(math.MaxUint64); return r.Done() },
		"above the limit":    func() error { r := NewReader("x", 1, []byte{1, 5}); r.Uvarint(4); return r.Done() },
		"an open varint":     func() error { r := NewReader("x", 1, []byte{1, 0x80}); r.Uvarint(9); return r.Done() },
		"half a word":        func() error { r := NewReader("x", 1, []byte{1, 0, 0}); r.Word(); return r.Done() },
		"missing bytes":      func() error { r := NewReader("x", 1, []byte{1, 0}); r.Bytes(2); return r.Done() },
		"a negative length":  func() error { r := NewReader("x", 1, []byte{1}); r.Bytes(-1); return r.Done() },
		"the family's wish":  func() error { r := NewReader("x", 1, []byte{1, 0}); r.Fail(); return r.Done() },
		"reading on in vain": func() error { r := NewReader("x", 1, []byte{1, 5, 1, 2}); r.Uvarint(4); r.Bytes(2); return r.Done() },
	} {
		var e *sqlerr.Error
		if err := read(); !errors.As(err, &e) || e.Code != sqlerr.DataCorrupted {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSortedWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.Uint64(), 0, 20).Draw(t, "words")
		shift := rapid.IntRange(0, 63).Draw(t, "shift")
		for i := range words {
			words[i] >>= shift
		}
		slices.Sort(words)
		b := AppendSorted([]byte{1}, words)
		r := NewReader("test", 1, b)
		if got := r.Sorted(nil, len(words)); !slices.Equal(got, words) || r.Done() != nil {
			t.Fatalf("%x: got %x", words, got)
		}
	})
	wide := NewReader("test", 1, []byte{1, 2, 5, 0, 0, 0, 0, 0, 0, 0, 1, 0}) // 5, 6 in more bytes than they take
	if wide.Sorted(nil, 2); wide.Done() == nil {
		t.Fatal("another form was read")
	}
}
