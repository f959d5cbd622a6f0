package gctuning

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestOnlyWhatTheFileHoldsIsLetGoOf(t *testing.T) {
	const file = "/opt/a 12 b/adze (deleted)"
	maps := `00400000-00500000 r-xp 00000000 fd:00 12                         ` + file + `
00500000-00600000 rw-p 00200000 fd:00 12                         ` + file + `
00600000-00700000 r--s 00200000 fd:00 12                         ` + file + `
00700000-00800000 r--p 00300000 fd:00 12                         ` + file + `
00800000-00900000 r--p 00000000 fd:00 13                         /lib/other
00900000-00a00000 r--p 00000000 00:00 0 
00a00000-00b00000
zz-00c00000 r--p 00000000 fd:00 12 ` + file + `
555555554000-555555654000 r-xp 00000000 fd:00 12                 ` + file + `
`
	var got []string
	untouched(strings.NewReader(maps), file, func(from, to uintptr) { got = append(got, fmt.Sprintf("%x-%x", from, to)) })
	if want := []string{"400000-500000", "700000-800000"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestWhatTheStartNeededIsLetGoOf(t *testing.T) {
	if !alone(t) {
		return
	}
	before := mappedOfFiles(t)
	Start(ForgetStart)
	if !settle(func() bool { return mappedOfFiles(t) < before }) {
		t.Errorf("%d kB of files are mapped, and were", before)
	}
	var text strings.Builder
	for i := range 1_000 { // what is needed again comes back
		fmt.Fprintf(&text, "%v %x", i, i)
	}
	if !strings.HasSuffix(text.String(), "999 3e7") {
		t.Error(text.String())
	}
}

// mappedOfFiles is how much of files this process has in its memory, in kB.
func mappedOfFiles(t *testing.T) (kB int) {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip(err)
	}
	_, value, ok := strings.Cut(string(status), "RssFile:")
	if _, err := fmt.Sscan(value, &kB); !ok || err != nil {
		t.Skip("this system does not tell what is mapped of files")
	}
	return kB
}
