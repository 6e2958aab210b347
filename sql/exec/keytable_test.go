package exec

import (
	"fmt"
	"testing"
)

func TestKeyTableNumbersKeysAsAMapDoes(t *testing.T) {
	table, twin := newKeyTable(), map[string]uint32{}
	for i := range 10_000 {
		key := []byte(fmt.Sprint(i * i % 7001))
		want, known := twin[string(key)]
		if !known {
			want = uint32(len(twin))
			twin[string(key)] = want
		}
		if n, ok := table.find(key); ok != known || ok && n != want {
			t.Fatalf("find(%s) = %d, %v; want %d, %v", key, n, ok, want, known)
		}
		if n, fresh := table.add(key); n != want || fresh == known {
			t.Fatalf("add(%s) = %d, %v; want %d, %v", key, n, fresh, want, !known)
		}
	}
	if table.len() != len(twin) {
		t.Fatalf("%d keys instead of %d", table.len(), len(twin))
	}
	if n, fresh := table.add(nil); n != uint32(len(twin)) || !fresh {
		t.Fatalf("the empty key is %d, %v", n, fresh)
	}
}
