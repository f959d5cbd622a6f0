// Package proxytest serves one small package in each ecosystem's form, for tests of proxies.
//
// The one rule: the site's names exist nowhere else, so every fetch went through the tested proxy.
//
// Start reading at New. Known limits: npm and pip need settings that exclude other registries; see
// Environment.
package proxytest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// A Site serves npm.test, git.test, pip.test and modules.test by https.
type Site struct {
	Address   string // local listening address
	authority string // certificate file for clients to trust
}

// New starts a site; dir holds files for its clients.
func New(t testing.TB, dir string) *Site {
	t.Helper()
	certificate, authority := identity(t, dir)
	server := httptest.NewUnstartedServer(packages(t))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	server.StartTLS()
	t.Cleanup(server.Close)
	return &Site{server.Listener.Addr().String(), authority}
}

// Environment makes clients trust the site and use it alone.
func (s *Site) Environment() []string {
	return []string{
		"SSL_CERT_FILE=" + s.authority, "GIT_SSL_CAINFO=" + s.authority, "npm_config_cafile=" + s.authority, "PIP_CERT=" + s.authority, "CURL_CA_BUNDLE=" + s.authority,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GOPROXY=https://modules.test", "GOSUMDB=off", "GOFLAGS=-modcacherw", "GOTOOLCHAIN=local",
		"npm_config_registry=https://npm.test/", "npm_config_fetch_retries=0", "npm_config_audit=false", "npm_config_fund=false", "PIP_INDEX_URL=https://pip.test/simple",
		"PYENV_VERSION=" + os.Getenv("PYENV_VERSION"), "PYENV_ROOT=" + os.Getenv("PYENV_ROOT"),
	}
}

// A Fetch is a program's shell command that fetches its package into the current folder, and the
// resulting file.
type Fetch struct{ Program, Command, Made string }

// Fetches returns all programs' fetches.
func Fetches() []Fetch {
	return []Fetch{
		{"curl", "curl -sS -o got https://npm.test/hello", "got"},
		{"curl", "curl -sS -o got --proxy $ALL_PROXY https://npm.test/hello", "got"},
		{"git", "git clone -q https://git.test/repo.git", "repo/greeting"},
		{"go", "go mod init here.test && go get modules.test/hello@v1.0.0 && go list -f '{{.Dir}}' modules.test/hello > got", "got"},
		{"npm", "npm install hello", "node_modules/hello/package.json"},
		{"pip", "python3 -m pip download -q --disable-pip-version-check --no-deps hello", "hello-1.0-py3-none-any.whl"},
	}
}

// identity makes a certificate for the test names, and the authority's file.
func identity(t testing.TB, dir string) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"npm.test", "git.test", "pip.test", "modules.test"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "authority.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}

func packages(t testing.TB) http.Handler {
	t.Helper()
	mux := http.NewServeMux()
	serve := func(path string, body []byte) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { w.Write(body) })
	}
	module := zipped(t, map[string]string{
		"modules.test/hello@v1.0.0/go.mod": "module modules.test/hello\n", "modules.test/hello@v1.0.0/hello.go": "package hello\n"})
	serve("modules.test/modules.test/hello/@v/v1.0.0.info", []byte(`{"Version":"v1.0.0","Time":"2024-01-01T00:00:00Z"}`))
	serve("modules.test/modules.test/hello/@v/v1.0.0.mod", []byte("module modules.test/hello\n"))
	serve("modules.test/modules.test/hello/@v/v1.0.0.zip", module)

	tarball := tarred(t, "package/package.json", `{"name":"hello","version":"1.0.0"}`)
	sum := sha512.Sum512(tarball)
	about, _ := json.Marshal(map[string]any{"name": "hello", "dist-tags": map[string]string{"latest": "1.0.0"},
		"versions": map[string]any{"1.0.0": map[string]any{"name": "hello", "version": "1.0.0", "dist": map[string]string{
			"tarball": "https://npm.test/hello-1.0.0.tgz", "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])}}}})
	serve("npm.test/hello", about)
	serve("npm.test/hello-1.0.0.tgz", tarball)

	wheel := zipped(t, map[string]string{"hello/__init__.py": "", "hello-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: hello\nVersion: 1.0\n",
		"hello-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n", "hello-1.0.dist-info/RECORD": ""})
	mux.HandleFunc("pip.test/simple/hello/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!DOCTYPE html><a href="/hello-1.0-py3-none-any.whl#sha256=%x">hello</a>`, sha256.Sum256(wheel))
	})
	serve("pip.test/hello-1.0-py3-none-any.whl", wheel)

	mux.Handle("git.test/", http.FileServer(http.Dir(repository(t))))
	return mux
}

// repository makes repo.git for the protocol that needs only files.
func repository(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if _, err := exec.LookPath("git"); err != nil {
		return dir
	}
	work := filepath.Join(dir, "work")
	os.Mkdir(work, 0o700)
	os.WriteFile(filepath.Join(work, "greeting"), []byte("hello\n"), 0o600)
	for _, args := range [][]string{
		{"init", "-q", work}, {"-C", work, "add", "."},
		{"-C", work, "-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "-m", "first"},
		{"clone", "-q", "--bare", work, filepath.Join(dir, "repo.git")}, {"-C", filepath.Join(dir, "repo.git"), "update-server-info"},
	} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return dir
}

func zipped(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, text := range files {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		f.Write([]byte(text))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func tarred(t testing.TB, name, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	packed := gzip.NewWriter(&b)
	w := tar.NewWriter(packed)
	w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))})
	w.Write([]byte(text))
	w.Close()
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
