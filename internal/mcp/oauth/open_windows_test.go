package oauth

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// toldTo names a file to which this program, which stands in for rundll32, writes its arguments.
const toldTo = "OAUTH_TEST_TOLD_TO"

func TestMain(m *testing.M) {
	if path := os.Getenv(toldTo); path != "" {
		text := ""
		for _, word := range os.Args[1:] {
			text += word + "|"
		}
		_ = os.WriteFile(path+".part", []byte(text), 0o600)
		_ = os.Rename(path+".part", path)
		return
	}
	m.Run()
}

// TestABrowserGetsTheAddressAsOneArgumentOnWindows: no part of an address is a word of its own.
func TestABrowserGetsTheAddressAsOneArgumentOnWindows(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	told := filepath.Join(t.TempDir(), "told")
	find := func(program string) (string, []string, error) {
		if program != "rundll32" {
			t.Errorf("it looks for %s", program)
		}
		return self, append(os.Environ(), toldTo+"="+told), nil
	}
	open := Browser(func(string) string { return "" }, find)
	const address = "https://a.example/?a=$(id)&b='x%20y';calc&c=%41"
	if err := open(address); err != nil {
		t.Fatal(err)
	}
	var got []byte
	for end := time.Now().Add(time.Minute); got == nil && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		got, _ = os.ReadFile(told)
	}
	if want := "url.dll,FileProtocolHandler|" + address + "|"; string(got) != want {
		t.Errorf("%q, want %q", got, want)
	}
	if open("file:///c:/windows/system32/calc.exe") == nil {
		t.Error("a file is opened")
	}
}
