//go:build amd64 || arm64

package seccomptrace

import (
	"os"
	"slices"
	"syscall"
	"testing"
	"unsafe"
)

// A path that ends where the memory does is read; one without an end is none.
func TestAPathAtTheEndOfMemory(t *testing.T) {
	size := 2 * os.Getpagesize()
	mem, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Munmap(mem) }()
	if err := syscall.Mprotect(mem[size/2:], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	n := &notice{pid: uint32(os.Getpid())}
	at := uint64(uintptr(unsafe.Pointer(&mem[size/2-6])))
	copy(mem[size/2-6:size/2], "/path\x00")
	if s, ok := n.text(at); s != "/path" || !ok {
		t.Errorf("%q, %v", s, ok)
	}
	mem[size/2-1] = 'x'
	if s, ok := n.text(at); ok {
		t.Errorf("%q has no end", s)
	}
	if s, ok := n.text(0); ok {
		t.Errorf("%q is nowhere", s)
	}
}

// What is only watched goes on; all else that the filter tells of is refused, or done here.
func TestAWitnessLetsGoOnWhatIsWatchedAlone(t *testing.T) {
	w := New(-1, Settings{})
	var all []uint32
	all = append(all, ReportedCalls(false)...)
	for nr := range uint32(600) {
		r, now := w.answer(&notice{id: 7, nr: nr, pid: uint32(os.Getpid())})
		if nr == syscall.SYS_CONNECT {
			if r.errno == 0 || r.flags != 0 || !now {
				t.Errorf("call %d without a socket: %+v", nr, r)
			}
			continue
		}
		if watched := slices.Contains(all, nr); (r.flags == goOn) != watched || (r.errno == -int32(syscall.EPERM)) == watched || r.id != 7 {
			t.Errorf("call %d: %+v", nr, r)
		}
	}
}
