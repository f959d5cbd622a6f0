package redact_test

import (
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adze/internal/text/redact"
)

const own = "0123456789abcdef0123456789abcdef" // of no known shape

// fake writes letters of a kind; the same seed gives the same.
func fake(seed uint64, letters string, n int) string {
	r := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[r.IntN(len(letters))]
	}
	b[n/2], b[n/3], b[n/4] = '7', '4', '2'
	return string(b)
}

const (
	letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	capital = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	hex     = "0123456789abcdef"
)

// planted are made-up secrets of every kind, put together here so that no scanner takes this file
// for a leak.
func planted() map[string]string {
	key := "-----BEGIN " + "OPENSSH PRIVATE KEY-----\n" + fake(1, letters, 70) + "\n" + fake(2, letters, 70) + "\n-----END " + "OPENSSH PRIVATE KEY-----"
	token := "eyJ" + fake(3, letters, 20) + ".eyJ" + fake(4, letters, 40) + "." + fake(5, letters, 43)
	return map[string]string{
		"anthropic": "sk-ant-" + "api03-" + fake(6, letters+"_-", 90) + "AA", "openai": "sk-" + fake(7, letters, 48), "openai project": "sk-proj-" + fake(8, letters+"_-", 120) + "A",
		"openrouter": "sk-or-v1-" + fake(9, hex, 64), "deepseek": "sk-" + fake(10, hex, 32), "google": "AIza" + fake(11, letters+"_-", 34) + "x",
		"google oauth": "GOCSPX-" + fake(12, letters, 28), "aws id": "AKIA" + fake(13, capital, 16), "aws sts": "ASIA" + fake(14, capital, 16),
		"github": "ghp_" + fake(15, letters, 36), "github app": "ghs_" + fake(16, letters, 36), "github fine": "github_pat_" + fake(17, letters, 22) + "_" + fake(18, letters, 59),
		"gitlab": "glpat-" + fake(19, letters+"-", 19) + "b", "slack": "xoxb-" + fake(20, hex, 12) + "-" + fake(21, letters, 24), "slack app": "xapp-1-" + fake(22, capital, 11) + "-" + fake(23, hex, 64),
		"stripe": "sk_live_" + fake(24, letters, 24), "stripe hook": "whsec_" + fake(25, letters, 32), "npm": "npm_" + fake(26, letters, 36), "pypi": "pypi-" + "AgEIcHlwaS5vcmc" + fake(27, letters, 80),
		"jwt": token, "private key": key, "telegram": "123456789:AA" + fake(28, letters, 33), "discord": "MTI" + fake(29, letters, 23) + "." + fake(30, letters, 6) + "." + fake(31, letters, 38),
		"sendgrid": "SG." + fake(32, letters, 22) + "." + fake(33, letters, 43), "hugging face": "hf_" + fake(34, letters, 34), "databricks": "dapi" + fake(35, hex, 32),
		"groq": "gsk_" + fake(36, letters, 52), "xai": "xai-" + fake(37, letters, 80), "vault": "hvs." + fake(38, letters, 90), "digitalocean": "dop_v1_" + fake(39, hex, 64),
		"azure entra": "abc8Q~" + fake(40, letters, 34), "shopify": "shpat_" + fake(41, hex, 32), "linear": "lin_api_" + fake(42, letters, 40), "docker": "dckr_pat_" + fake(43, letters, 27),
		"grafana": "glsa_" + fake(44, letters, 32) + "_" + fake(45, hex, 8), "new relic": "NRAK-" + fake(46, capital, 27), "age": "AGE-SECRET-KEY-1" + fake(47, capital, 58), "twilio": "SK" + fake(48, hex, 32), "known": own,
	}
}

// TestEverySecretInEverySurrounding writes each secret as files, shells, JSON and JSON in JSON do.
func TestEverySecretInEverySurrounding(t *testing.T) {
	m := redact.New(own)
	quote := func(s string) string { raw, _ := json.Marshal(s); return string(raw) }
	for name, s := range planted() {
		for _, text := range []string{
			s, "a " + s + " b", "KEY=" + s + "\n", `"` + s + `"`, "(" + s + ")", "it is " + s + ".", "`" + s + "`", s + "," + s, "<a href=\"" + s + "\">", "x:" + s + ";", "日本" + s + "語",
			quote("a\n" + s + "\nb"), quote("\t" + s), quote(quote(`{"content":"line` + "\n" + s + "\n\"}")), quote("<" + s + ">"), "%20" + s + "%20", "--token=" + s,
		} {
			got := m.Text(text)
			if strings.Contains(got, s) || strings.Contains(got, s[len(s)/2:]) && len(s) > 20 || !strings.Contains(got, redact.Mark) {
				t.Errorf("%s: %q became %q", name, text, got)
			}
			if again := m.Text(got); again != got {
				t.Errorf("%s: masked twice, %q became %q", name, got, again)
			}
		}
	}
}

func TestWhatGoesByItsPlace(t *testing.T) {
	var m redact.Masker
	for text, want := range map[string]string{
		"git clone https://me:hunter2!@a.test/x":                                            "git clone https://me:[masked]@a.test/x",
		"postgres://app:p@ss:w0rd@db:5432/x?sslmode=off":                                    "postgres://app:[masked]@db:5432/x?sslmode=off",
		"fatal: unable to access 'https://u:abc@h.test/r.git/': 403":                        "fatal: unable to access 'https://u:[masked]@h.test/r.git/': 403",
		"redis://:secretword@cache":                                                         "redis://:[masked]@cache",
		"https://0123456789abcdefghij@a.test/x":                                             "https://[masked]@a.test/x",
		`Get "https://a.test/v1?alt=sse&key=AbC-dEf-123": refused`:                          `Get "https://a.test/v1?alt=sse&key=[masked]": refused`,
		"https://a.test/?X-Amz-Signature=0a1b2c3d4e&x=1":                                    "https://a.test/?X-Amz-Signature=[masked]&x=1",
		"curl -H 'Authorization: Bearer abc.def-ghi' a.test":                                "curl -H 'Authorization: Bearer [masked]' a.test",
		`{"Authorization":"Basic dXNlcjpwYXNz"}`:                                            `{"Authorization":"Basic [masked]"}`,
		`"x-api-key": "opaque-key-1-with-0123-and-more"`:                                    `"x-api-key": "[masked]"`,
		"AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLE0K":                     "AWS_SECRET_ACCESS_KEY=[masked]",
		"aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLE0K":                   "aws_secret_access_key = [masked]",
		"DefaultEndpointsProtocol=https;AccountName=a;AccountKey=abcDEF0123456789abcDEF==;": "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=[masked];",
		"Server=db;User=sa;Password=Pa55!word;Encrypt=yes":                                  "Server=db;User=sa;Password=[masked];Encrypt=yes",
		"//registry.test/:_authToken=abcDEF0123456789":                                      "//registry.test/:_authToken=[masked]",
		"https://hooks.slack.com/services/T0123/B0123/abcdefghijklmnop":                     "https://hooks.slack.com/[masked]",
		"https://discord.com/api/webhooks/12345/abc-def_ghijklmnopq":                        "https://discord.com/api/webhooks/[masked]",
		"https://api.telegram.org/bot12345678:AAabcdefghijklmnop/getMe":                     "https://api.telegram.org/bot[masked]",
	} {
		if got := m.Text(text); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

// TestPasswordsInFilesOfSettings writes passwords that people thought up as files of settings do.
func TestPasswordsInFilesOfSettings(t *testing.T) {
	var m redact.Masker
	for _, value := range []string{"hunter2", "S3cr3tPass", "Tr0ub4dor!", "p@ssw0rd2024", "Winter-2024!", "Xy7#kLm9"} {
		for _, text := range []string{
			"db_password: %\n", "password: %", "database:\n  user: app\n  db_password: % # of the test\n  host: db\n", "db_password: \"%\"\n", "  dbPassword: '%'\n", "spring.datasource.password=%\n",
			"DB_PASSWORD=\"%\"\n", "{\n  \"db_password\": \"%\",\n  \"port\": 1\n}", "db_password = \"%\"\n", "admin-password: %\n", "[db]\npasswd=%\r\n", "  password = \"%\"\n",
			"      MYSQL_ROOT_PASSWORD: \"%\"\n", "stringData:\n  client_secret: \"%\"\n",
		} {
			text = strings.Replace(text, "%", value, 1)
			if got := m.Text(text); strings.Contains(got, value) || !strings.Contains(got, redact.Mark) {
				t.Errorf("%q became %q", text, got)
			}
		}
	}
	for _, text := range []string{
		"password: string\n", "db_password: ${DB_PASSWORD}\n", "password = user.password2\n", "\tPassword: cfg2.Password,\n", "password: Optional[str2]\n", "db_password: !vault |\n",
		"password_hash: argon2\n", "password: sha256\n", "token: string2\n", "secret: my-secret-2\n", "db_password: /run/secrets/db1\n", "password: varchar255\n", "  password = getPassword2()\n",
		"\"forgot_password\": \"Forgot password 2?\",\n", "password = prompt2\n", "max_password: 128\n", "if password == pass2 {\n", "password: { type: 'string' }\n", "self.password = passw2\n",
	} {
		if got := m.Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestOtherTextStays holds what looks nearly like a secret.
func TestOtherTextStays(t *testing.T) {
	m := redact.New("k", "short", "lm-studio", "not-needed", "ollama", "")
	for _, text := range []string{
		"the key=value pairs", "sk-short", "https://a.test/?q=keys&page=2", "Authorization: none", "task-0123456789abcdefghij", "short k", "lm-studio/qwen", "not-needed",
		"https://a.test:8080/x@y", "authorize bearer", "git@github.com:me/x.git", "https://me@a.test/x", "https://user:$PASSWORD@host/", "https://user:<password>@host/",
		"sk-toggleable__label-arrow", "sk-top-container-id-1", "sk-learn-contrib-some-longer-name", "disk-0123456789abcdefghij", "AKIAlowercaseisnone1",
		"commit 5d41402abc4b2a76b9719d911017c592aabbccdd", "550e8400-e29b-41d4-a716-446655440000", "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
		"sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "func (c *Client) token() string { return c.tokens[0] }", "token := os.Getenv(\"GITHUB_TOKEN\")",
		"password: str = Field(min_length=8)", `"-----BEGIN ` + `PRIVATE KEY-----"`, "-----BEGIN " + "CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ\n-----END CERTIFICATE-----",
		"const API_KEY_HEADER = \"x-api-key\"", "MAX_TOKENS=128000", "Bearer authentication", "2024-01-02T03:04:05Z", "12345678:9", "--- PASS: TestOutputWithSubtest/sub_test2/sub2 (0.00s)", "postgres://user:password@host/db", "secret: my-secret-name-for-tests", "Message.Update.Something",
		"eyJust.a.word", "X-Api-Key: $KEY", "xoxb", "[masked]", "https://me:[masked]@a.test/x", "https://u:***@h/",
	} {
		if got := m.Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestOwnSourcesStay counts what is masked of a program's sources, its checksums, pictures and
// texts: nothing.
func TestOwnSourcesStay(t *testing.T) {
	m := redact.New(own)
	files := 0
	err := filepath.WalkDir("../../..", func(path string, d fs.DirEntry, err error) error {
		kept := slices.Contains([]string{".go", ".md", ".sum", ".mod", ".svg", ".json", ".txt"}, filepath.Ext(path))
		if err != nil || d.IsDir() || !kept || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "/testdata/") {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		for _, x := range m.Spans(string(raw)) {
			if found := string(raw[x.Start:x.End]); !strings.HasPrefix(found, "sk-secret-") { // what a test's server is given
				t.Errorf("%s: %.80q", path, found)
			}
		}
		return nil
	})
	if err != nil || files < 300 {
		t.Errorf("%d files, %v", files, err)
	}
}

// TestKnownValuesInOtherSpellings writes a value as JSON, an address and base64 do.
func TestKnownValuesInOtherSpellings(t *testing.T) {
	value := `pa"ss\wo/rd+ 2024 é`
	m := redact.New(value)
	quoted, _ := json.Marshal(value)
	for _, text := range []string{
		value, string(quoted), url.QueryEscape(value), url.PathEscape(value), base64.StdEncoding.EncodeToString([]byte(value)),
		base64.StdEncoding.EncodeToString([]byte("user:" + value)), base64.URLEncoding.EncodeToString([]byte("me:" + value + "\n")),
	} {
		if got := m.Text("it is " + text + " there"); !strings.Contains(got, redact.Mark) {
			t.Errorf("%q became %q", text, got)
		}
	}
	if got := m.RedactKnown("ghp_" + fake(1, letters, 36) + " " + value); strings.Contains(got, "2024") || !strings.Contains(got, "ghp_") {
		t.Errorf("known values alone: %q", got)
	}
}

// TestStreamAtEverySplit compares what comes in pieces with the whole, and lets no piece of a
// secret pass.
func TestStreamAtEverySplit(t *testing.T) {
	m := redact.New(own, "two words as 1 phrase")
	for name, s := range planted() {
		text := "It is " + s + " there,\nand " + own + "; two words as 1 phrase."
		want := m.Text(text)
		for _, size := range []int{1, 2, 3, 7, 20, 64} {
			var b strings.Builder
			stream := m.Stream()
			for rest := text; rest != ""; {
				n := min(size, len(rest))
				b.WriteString(stream.Write(rest[:n]))
				rest = rest[n:]
			}
			b.WriteString(stream.End())
			if b.String() != want {
				t.Errorf("%s in pieces of %d:\n got %q\nwant %q", name, size, b.String(), want)
			}
		}
	}
}

// TestStreamPassesOrdinaryTextOn: who watches must not wait for words.
func TestStreamPassesOrdinaryTextOn(t *testing.T) {
	stream := redact.New(own).Stream()
	came, passed := 0, 0
	for _, piece := range strings.SplitAfter("I will look at the secret file and change it. That's all; key names, 1234 tokens, https://a.test/x are no secrets. Most", " ") {
		came += len(piece)
		passed += len(stream.Write(piece))
		if came-passed > 12 {
			t.Errorf("after %q %d bytes wait", piece, came-passed)
		}
	}
}

func TestJSONKeepsEverythingElse(t *testing.T) {
	m := redact.New(own)
	token := "ghp_" + fake(15, letters, 36)
	for in, want := range map[string]string{
		`{"a": "x", "n": 1e3 ,"u":"\u00e9"}`:                                          `{"a": "x", "n": 1e3 ,"u":"\u00e9"}`,
		`{"a":"` + token + `","b":"\u0041\n"}`:                                        `{"a":"[masked]","b":"\u0041\n"}`,
		`{"id":"` + token + `","signature":"` + token + `","x_sha256":"` + own + `"}`: `{"id":"` + token + `","signature":"` + token + `","x_sha256":"` + own + `"}`,
		`{"id":{"a":"` + token + `"},"call":["` + token + `"]}`:                       `{"id":{"a":"[masked]"},"call":["[masked]"]}`,
		`{"` + token + `":"x"}`:                                                       `{"[masked]":"x"}`,
		`["` + strings.Repeat("QUtJQUFBQUFBQUFB", 40) + `"]`:                          `["` + strings.Repeat("QUtJQUFBQUFBQUFB", 40) + `"]`,
		`"<` + own + `> & \u0007"`:                                                    `"<[masked]> & \u0007"`,
		`{"args":"{\"k\":\"a\\n` + token + `\"}"}`:                                    `{"args":"{\"k\":\"a\\n[masked]\"}"}`,
		"": "", `"`: `"`, `{"a`: `{"a`,
	} {
		if got := string(m.JSON([]byte(in))); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}

func TestNamesOfVariables(t *testing.T) {
	for name, want := range map[string]bool{
		"SLACK_WEBHOOK": true, "SLACK_WEBHOOK_URL": true, "DISCORD_WEBHOOKS": true, "DEPLOY_HOOK_URL": true, "SENTRY_DSN": true, "AZURE_STORAGE_CONNECTION_STRING": true,
		"MYSQL_PWD": true, "GITHUB_PAT": true, "STORAGE_ACCOUNTKEY": true,
		"MONKEY": false, "KEYBOARD": false, "PWD": false, "OLDPWD": false, "PRE_COMMIT_HOOK_STAGE": false, "GIT_AUTHOR_NAME": false, "PATH": false, "DATABASE_NAME": false,
	} {
		if redact.Name(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
	for _, c := range [][3]string{
		{"DATABASE_URL", "postgres://a:hunter2!@h/x", "hunter2!"}, {"DATABASE_URL", "postgres://a@h/x", ""}, {"GITHUB_TOKEN", "abcdefgh1234", "abcdefgh1234"},
		{"SSH_AUTH_SOCK", "/tmp/ssh-1/agent.2", ""}, {"LANG", "C.UTF-8", ""}, {"X", "ghp_" + fake(15, letters, 36), "ghp_" + fake(15, letters, 36)},
		{"SLACK_WEBHOOK_URL", "https://hooks.slack.com/services/T0123/B0123/abcdefghijklmnop", "https://hooks.slack.com/services/T0123/B0123/abcdefghijklmnop"},
	} {
		if got := redact.InVariable(c[0], c[1]); got != c[2] {
			t.Errorf("%s=%s: %q", c[0], c[1], got)
		}
	}
}

func FuzzMasking(f *testing.F) {
	for _, s := range planted() {
		f.Add("a "+s+" b", uint8(3))
	}
	m := redact.New(own)
	f.Fuzz(func(t *testing.T, text string, size uint8) {
		whole := m.Text(text)
		if again := m.Text(whole); again != whole && !strings.Contains(text, "[mask") {
			t.Errorf("%q became %q, then %q", text, whole, again)
		}
		var b strings.Builder
		stream := m.Stream()
		for rest := text; rest != ""; {
			n := min(int(size)+1, len(rest))
			b.WriteString(stream.Write(rest[:n]))
			rest = rest[n:]
		}
		b.WriteString(stream.End())
		if b.String() != whole {
			t.Errorf("%q by %d:\n got %q\nwant %q", text, size, b.String(), whole)
		}
		raw, _ := json.Marshal(map[string]string{"text": text})
		if out := m.JSON(raw); !json.Valid(out) {
			t.Errorf("%s became %s", raw, out)
		}
	})
}
