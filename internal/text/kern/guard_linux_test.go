package kern

import (
	"math/rand/v2"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestKernelsReadNothingBesideTheText lays texts against pages that must not be touched: a read
// beyond one's capacity, or in front of it, ends the test by a fault.
func TestKernelsReadNothingBesideTheText(t *testing.T) {
	needs(t)
	page := os.Getpagesize()
	room, err := unix.Mmap(-1, 0, 4*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(room)
	for _, edge := range [][]byte{room[:page], room[3*page:]} {
		if err := unix.Mprotect(edge, unix.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	free := room[page : 3*page : 3*page]
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range free {
		free[i] = "abAB \n\x80\xffz_"[rng.IntN(10)]
	}
	for range 2000 {
		size := 1 + rng.IntN(400)
		check(t, rng, free[len(free)-size:])
		check(t, rng, free[:size:size+rng.IntN(100)])
	}
}

// needs skips what compares a kernel with its twin where there is no kernel.
func needs(t testing.TB) {
	if !Vectors() {
		t.Skip("this processor runs the twins alone")
	}
}
