package sandbox_test

import (
	"archive/zip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/sandbox"
	"adze/internal/testkit/effort"
)

// module puts a module into the user's module cache, as go mod download has left it there.
func (b *bench) module(path, version, code string) {
	b.t.Helper()
	dir := "go/pkg/mod/cache/download/" + path + "/@v/"
	b.write(dir+version+".info", `{"Version":"`+version+`"}`)
	b.write(dir+version+".mod", "module "+path+"\n\ngo 1.22\n")
	b.write(dir+"list", version+"\n")
	f, err := os.Create(filepath.Join(b.home, dir+version+".zip"))
	if err != nil {
		b.t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for name, content := range map[string]string{"go.mod": "module " + path + "\n\ngo 1.22\n", "m.go": code} {
		w, err := z.Create(path + "@" + version + "/" + name)
		if err == nil {
			_, err = w.Write([]byte(content))
		}
		if err != nil {
			b.t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		b.t.Fatal(err)
	}
	f.Close()
}

const serverTest = `package x
import ("io"; "net/http"; "net/http/httptest"; "testing"; "example.com/m")
func Test(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, m.Word) }))
	defer s.Close()
	r, err := http.Get(s.URL)
	if err != nil { t.Fatal(err) }
	if b, _ := io.ReadAll(r.Body); string(b) != m.Word { t.Fatal(string(b)) }
}
`

// TestABuildReadsThePersonsModules: without a network go takes modules from the user's cache,
// which it cannot write to. With ADZE_TESTS=long it also builds with them and runs a test with a
// server of its own, which compiles the standard library into a new cache.
func TestABuildReadsThePersonsModules(t *testing.T) {
	need(t, "go")
	b := newBench(t, sandbox.Namespaces)
	b.module("example.com/m", "v1.0.0", "package m\n\nconst Word = \"read\"\n")
	b.write("work/go.mod", "module example.com/x\n\ngo 1.22\n\nrequire example.com/m v1.0.0\n")
	b.write("work/x_test.go", serverTest)
	env := "export GOTOOLCHAIN=local GONOSUMDB='*' GOFLAGS=-mod=mod; "
	r := b.run(env + "go mod download -json example.com/m@v1.0.0 && ls $GOMODCACHE/example.com/m@v1.0.0/m.go && ! touch $HOME/go/pkg/mod/cache/download/poison")
	if r.Err() != nil || !strings.Contains(text(r), "/run/adze/cache/go-mod/example.com/m@v1.0.0/m.go") {
		t.Fatalf("%v: %s", r.Err(), text(r))
	}
	if !effort.Is(effort.Long) {
		return
	}
	if r := b.run(env + "go test ./..."); r.Err() != nil {
		t.Errorf("%v: %s", r.Err(), text(r))
	}
}

// Where the workspace is no repository, an empty folder stands for one, which must not keep go from
// building; what the user told go stays.
func TestABuildOutsideARepository(t *testing.T) {
	need(t, "go", "git")
	each(t, func(t *testing.T, b *bench) {
		b.write("work/go.mod", "module example.com/x\n\ngo 1.22\n")
		b.write("work/x.go", "package main\n\nfunc main() {}\n")
		r := b.run("export GOTOOLCHAIN=local; go build -n -o /dev/null . && go env GOFLAGS")
		if r.Err() != nil || !strings.HasSuffix(text(r), "-buildvcs=false") {
			t.Errorf("%v: %s", r.Err(), text(r))
		}
	})
}

func TestServersOfACommandReachEachOther(t *testing.T) {
	need(t, "python3")
	each(t, func(t *testing.T, b *bench) {
		r := b.run(`python3 - <<'X'
import socket, threading
s = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=lambda: s.accept()[0].sendall(b"reached")).start()
c = socket.create_connection(s.getsockname())
print(c.recv(9).decode())
u = socket.socket(socket.AF_UNIX); u.bind("/tmp/s"); u.listen()
v = socket.socket(socket.AF_UNIX); v.connect("/tmp/s"); print("unix")
X
script -qec 'tty' /dev/null 2>/dev/null | head -1`)
		if out := text(r); !strings.Contains(out, "reached\nunix") {
			t.Errorf("%v: %s", r.Err(), out)
		}
	})
}
