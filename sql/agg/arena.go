package agg

// arena holds byte strings of changing length without a pointer for each.
type arena struct {
	data  []byte
	waste int
}

type arenaRef struct{ at, size uint32 }

// get returns the bytes of ref; they alias the arena.
func (a *arena) get(ref arenaRef) []byte { return a.data[ref.at : ref.at+ref.size : ref.at+ref.size] }

// replace stores x, in the place of old where it fits.
func (a *arena) replace(old arenaRef, x []byte) arenaRef {
	if len(x) <= int(old.size) {
		copy(a.data[old.at:], x)
		a.waste += int(old.size) - len(x)
		return arenaRef{old.at, uint32(len(x))}
	}
	a.waste += int(old.size)
	at := uint32(len(a.data))
	a.data = append(a.data, x...)
	return arenaRef{at, uint32(len(x))}
}

// compactIfWasteful rewrites the arena where more than half of it is unused.
// each calls move for every reference in use.
func (a *arena) compactIfWasteful(each func(move func(*arenaRef))) {
	if a.waste < 4096 || a.waste < len(a.data)/2 {
		return
	}
	fresh := make([]byte, 0, len(a.data)-a.waste+1024)
	each(func(ref *arenaRef) {
		b := a.get(*ref)
		ref.at = uint32(len(fresh))
		fresh = append(fresh, b...)
	})
	a.data, a.waste = fresh, 0
}
