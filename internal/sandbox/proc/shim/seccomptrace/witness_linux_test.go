//go:build amd64 || arm64

package seccomptrace

import (
	"encoding/binary"
	"math/rand"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// told asks a witness about an address of this process.
func told(w *Witness, raw []byte) []string {
	n := &notice{pid: uint32(os.Getpid())}
	w.address(n, uint64(uintptr(unsafe.Pointer(unsafe.SliceData(raw)))), uint64(len(raw)))
	runtime.KeepAlive(raw)
	var out []string
	facts, _ := w.Facts()
	for _, f := range facts {
		out = append(out, string(f.Kind)+f.Text)
	}
	return out
}

func inet(family, port int, ip ...byte) []byte {
	raw := binary.NativeEndian.AppendUint16(nil, uint16(family))
	raw = binary.BigEndian.AppendUint16(raw, uint16(port))
	if family == syscall.AF_INET6 {
		raw = append(raw, 0, 0, 0, 0) // flow
		ip = append(make([]byte, 16-len(ip)), ip...)
	}
	return append(append(raw, ip...), make([]byte, 8)...)
}

func TestAnAddressIsReadAsTheKernelDoes(t *testing.T) {
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"out":              {inet(syscall.AF_INET, 443, 192, 0, 2, 1), "a192.0.2.1:443"},
		"this machine":     {inet(syscall.AF_INET, 5432, 127, 0, 0, 1), "a127.0.0.1:5432"},
		"the proxy's port": {inet(syscall.AF_INET, 3128, 127, 0, 0, 1), ""},
		"no port":          {inet(syscall.AF_INET, 0, 192, 0, 2, 1), ""},
		"many":             {inet(syscall.AF_INET, 5353, 224, 0, 0, 251), ""},
		"out by IPv6":      {inet(syscall.AF_INET6, 80, 0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1), "a[2001:db8:0:0:0:0:0:1]:80"},
		"itself by IPv6":   {inet(syscall.AF_INET6, 3128, 1), ""},
		"IPv4 in IPv6":     {inet(syscall.AF_INET6, 3128, 0xff, 0xff, 127, 0, 0, 1), ""},
		"many in IPv6":     {inet(syscall.AF_INET6, 9, 0xff, 0xff, 239, 0, 0, 1), ""},
		"a socket":         {append(binary.NativeEndian.AppendUint16(nil, syscall.AF_UNIX), "/not/there\x00"...), ""},
		"too short":        {inet(syscall.AF_INET, 443, 192, 0, 2, 1)[:7], ""},
		"nothing":          {nil, ""},
	} {
		if got := strings.Join(told(New(-1, Settings{Served: []uint16{3128}}), c.raw), " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestAnyBytesAreAnAddress(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	w := New(-1, Settings{})
	for range 3000 {
		raw := make([]byte, random.Intn(40))
		random.Read(raw)
		if len(raw) > 1 {
			raw[0], raw[1] = []byte{1, 2, 10}[random.Intn(3)], 0
		}
		told(w, raw)
		w.bound(&notice{pid: uint32(os.Getpid())}, uint64(uintptr(unsafe.Pointer(unsafe.SliceData(raw)))), uint64(len(raw)))
		runtime.KeepAlive(raw)
	}
	if facts, passed := w.Facts(); len(facts)+len(passed) > maxFacts {
		n := len(facts) + len(passed)
		t.Errorf("%d facts are kept", n)
	}
}

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
	for _, test := range Tests(false) {
		all = append(all, test.Number)
	}
	for nr := range uint32(600) {
		r, now := w.answer(&notice{id: 7, nr: nr, pid: uint32(os.Getpid())})
		if nr == syscall.SYS_CONNECT || nr == syscall.SYS_SOCKETPAIR {
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
