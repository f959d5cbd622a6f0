package redact

import (
	"path"
	"slices"
	"strings"
	"testing"
)

func TestFilesAreKnownForTheirSecrets(t *testing.T) {
	for _, name := range []string{
		".env", ".ENV", ".env.local", "a/.env.production", "prod.env", "id_rsa", "keys/ID_ED25519", "server.pem", "tls/server.key", "cert.p12", "x.pfx",
		"credentials.json", "client_secret_12.apps.json", ".netrc", "_netrc", ".pgpass", ".npmrc", ".pypirc", "kubeconfig", "prod.kubeconfig", ".kube/config",
		".docker/config.json", ".aws/credentials", "prod.tfvars", "prod.auto.tfvars", "x.tfvars.json", "terraform.tfstate", "terraform.tfstate.backup", ".git-credentials",
		"secrets.yml", "gcp-service-account.json", ".htpasswd", "store.jks",
	} {
		if dir, base := path.Split(name); !File(dir, base) {
			t.Errorf("%s is not known", name)
		}
	}
	for _, name := range []string{
		"", ".envrc", ".env.example", ".env.sample", "example.env", "prod.tfvars.example", "example.tfvars", "env", "environment.ts", "config.json", "config", "src/config", "id_rsa.pub",
		"package.json", "go.sum", "keys.go", "key", "pem.go", "secrets.go", ".gitignore", ".env-cmdrc", "tsconfig.json", "README.md", "credentials.go", "key.txt", "settings.xml", "monkey", "a.envelope",
	} {
		if dir, base := path.Split(name); File(dir, base) {
			t.Errorf("%s is known", name)
		}
	}
}

func TestValuesOfSecretFiles(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{".env", "PORT=3000\nNODE_ENV=development\nexport DB_PASSWORD='hunter2-horse'\nAPI_KEY = \"abcdefgh1234\" \n# OLD_TOKEN=gone12345\nURL=postgres://u:pa55word9@db/x\nEMPTY_TOKEN=\nTPL_KEY=${OTHER}\n", "hunter2-horse abcdefgh1234 pa55word9"},
		{".npmrc", "registry=https://registry.example.com/\n//registry.example.com/:_authToken=abcd-efgh-1234\n", "abcd-efgh-1234"},
		{"/home/a/.netrc", "machine x login me password s3cr3tpass\nmachine y\n  login me\n  password second77\n", "s3cr3tpass second77"},
		{".pgpass", "host:5432:db:me:p4ssw0rdpg\n", "p4ssw0rdpg"},
		{"prod.tfvars", "region = \"eu\"\ndb_password = \"tf-value-123\"\n", "tf-value-123"},
		{"secrets.yml", "production:\n  secret_key_base: 0123456789abcdefyy\n  host: example.com\n", "0123456789abcdefyy"},
		{"x.json", `{"type": "x", "client_email": "a@b", "inner": {"client_secret": "shh-12345678"}, "n": 5}`, "shh-12345678"},
		{"k.pem", "-----BEGIN CERTIFICATE-----\n" + strings.Repeat("A", 64) + "\n-----END CERTIFICATE-----\n-----BEGIN PRIVATE KEY-----\n" + strings.Repeat("Bx1", 20) + "\n-----END PRIVATE KEY-----\n", strings.Repeat("Bx1", 20)},
	} {
		got := In(c.name, c.text)
		want := strings.Fields(c.want)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(slices.Compact(got), want) {
			t.Errorf("%s: %q, want %q", c.name, got, want)
		}
	}
}
