package redact

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/testkit/effort"
)

// What is long and random but no secret stays: an agent that cannot read a lock file or a commit
// cannot work.
func TestLookalikesStay(t *testing.T) {
	for name, text := range map[string]string{
		"a commit":          "commit 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nAuthor: A <a@b.c>\n",
		"a log of git":      "3fed884a Draw the pictures\nindex 83db48f84..bf269f4d 100644\n",
		"a UUID":            `{"id": "123e4567-e89b-12d3-a456-426614174000", "request_id": "0b1c2d3e-4f50-6172-8394-a5b6c7d8e9f0"}`,
		"go.sum":            "github.com/spf13/cobra v1.8.1 h1:e5/vxKd/rZsfSJMUX1agtjeTDf+qv1/JdBF8gg5k9ZM=\ngithub.com/spf13/cobra v1.8.1/go.mod h1:wHxEcudfqmLYa8iTfL+OuZPbBZkmvliBWKIezN3kD9Y=\n",
		"package-lock.json": `"node_modules/tokenize": {"version": "1.0.1", "resolved": "https://r.example/tokenize/-/tokenize-1.0.1.tgz", "integrity": "sha512-Sf2LSQP+bOlhKWWyhFsn0UsfdK/kCWRv1iuA2gXAwt3gyySRn0Y7QSmr0OwxQDDZ2qjGmb9CfZ5Yn4kx6xjYhA=="}`,
		"Cargo.lock":        "[[package]]\nname = \"secrecy\"\nchecksum = \"9bd1c54ea06cfd2f6b63219704de0b9b4f72dcc2b8fdef820be6cd799780e91e\"\n",
		"a terraform lock":  `  hashes = ["h1:Jt/pVfDsd3MG1IjUzWMvUEU1QJmZ0vSHqLnNHE2gCWs=", "zh:0c83ef8a3f2d5a7f0c9a0f4f6c2e8a6d1b4d5e6f708192a3b4c5d6e7f8091a2b"]`,
		"yarn.lock":         "  checksum: 10c0/9a1c2f2d8f0f5b1f4b7c3c0c9b4d2a1e5f6071829304a5b6c7d8e9f00112233445566778899aabbccddeeff00112233445566778899\n",
		"pnpm-lock":         "    resolution: {integrity: sha512-Kv5nKlh6yRrdrGvxeJ2e5y2eRUpkUosIW4A2AS38zwSz27zu7ufDwQPi5Jhs3XAlGNetl3bmnGhQsMtkKJnj3w==}\n",
		"a docker digest":   "FROM golang@sha256:2d6c80227255c3112a4d08e67ba98e58efd3846daf15d9d7d4c389565d881b1a\n",
		"a picture":         `<img src="data:image/png;base64,` + strings.Repeat("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ", 4) + `">`,
		"base64 lines":      "7hpmDx+EAAAAAAAPHwBIgf4AAEAAD4MYAQAASIsU8kiJxkjB6A1IJf8fAABIi7zCAAAgAIQCildj\nEAAAAAAAAAACAAAAAAAAAAAAAAAAAAAAzoDV7A8CAgQQakYAAAAAACxfRwAAAAAAqAQAAIAjAAAA\n",
		"code of tokens":    "token := scanner.Scan2Tokens(); key == prevKey; tokenType: TokenType2Identifier; maxTokens=128000\npassword = base64.StdEncoding.EncodeToString(pwd)\nif a ?key===prevKeyOfAll1 : b\n",
		"names of keys":     "apiKey: process.env.OPENAI_API_KEY, token: os.Getenv(\"GITHUB_TOKEN2\"), secret: ${SECRET_2}, password: <your password>, key_env: \"MY_API_KEY\"\n",
		"a public key":      "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl me@host\n-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEs\n-----END PUBLIC KEY-----\n",
		"a certificate":     "-----BEGIN CERTIFICATE-----\nMIIBhTCCASugAwIBAgIQIRi6zePL6mKjOipn+dNuaTAKBggqhkjOPQQDAjASMRAw\n-----END CERTIFICATE-----\n",
		"an ETag":           "ETag: \"33a64df551425fcc55e4d42a148795d9f25f89d4\"\nX-Request-Id: 7f3e9c2b1a0d4e5f\n",
		"an address":        "https://example.com/a?page=12&sort=key&id=8f14e45fceea167a5a36dedd4bea2543#token\ngit@github.com:owner/repo.git\n",
	} {
		if spans := New().Spans(text); len(spans) > 0 {
			t.Errorf("%s: %q was taken for a secret", name, text[spans[0].Start:spans[0].End])
		}
	}
}

// Of the tree of Go and of this program, hardly a line is taken for a secret, and those are made-up
// keys and passwords.
func TestTreesOfCodeStay(t *testing.T) {
	folders := []string{"../../.."}
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("go is not there: ", err)
	}
	goroot := strings.TrimSpace(string(out))
	for _, name := range []string{"net", "crypto", "debug", "os", "encoding", "cmd/go", "internal"} {
		folders = append(folders, filepath.Join(goroot, "src", name))
	}
	if effort.Is(effort.Long) {
		folders = []string{"../../..", goroot}
	}
	lines, hits := 0, 0
	for _, root := range folders {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				if err == nil && d.Name() == ".git" {
					return filepath.SkipDir
				}
				return nil // Go may not be there as source
			}
			raw, err := os.ReadFile(path)
			if err != nil || len(raw) > 1<<20 || strings.IndexByte(string(raw[:min(len(raw), 8000)]), 0) >= 0 {
				return nil
			}
			text := string(raw)
			lines += strings.Count(text, "\n")
			for _, x := range New().Spans(text) {
				hits++
				made := strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata") || strings.Contains(path, "llmtest") || strings.HasSuffix(path, ".pem")
				if !made && !strings.Contains(path, "url/url.go") { // its comment shows a password in an address
					t.Errorf("%s: %.80q was taken for a secret", path, text[x.Start:x.End])
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d of %d lines", hits, lines)
	if lines < 100_000 || hits > 200 {
		t.Errorf("%d of %d lines are taken for secrets", hits, lines)
	}
}
