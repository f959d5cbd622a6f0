package redact

import "testing"

func TestPasswordsOfAddresses(t *testing.T) {
	for text, want := range map[string]string{
		"curl https://me:hunter2@a.test/x?y=1":            "curl https://me:[masked]@a.test/x?y=1",
		"git push https://me:p%40ss!@a.test ssh://u@b":    "git push https://me:[masked]@a.test ssh://u@b",
		"a://u:one@h b://u:two@h":                         "a://u:[masked]@h b://u:[masked]@h",
		`{"url":"postgres://app:s3cret@db/x"}`:            `{"url":"postgres://app:[masked]@db/x"}`,
		"https://ghp0123456789abcdefghij@a.test":          "https://[masked]@a.test",
		"https://me:[masked]@a.test":                      "https://me:[masked]@a.test",
		"https://me:$(rm${IFS}-rf${IFS}x)@a.test":         "https://me:$(rm${IFS}-rf${IFS}x)@a.test", // it runs
		"https://me:x;reboot@a.test":                      "https://me:x;reboot@a.test",
		"https://me:$TOKEN@a.test https://a.test:443/u@x": "https://me:$TOKEN@a.test https://a.test:443/u@x",
		"export TOKEN=ghp_0123456789abcdefghijklmnop":     "export TOKEN=ghp_0123456789abcdefghijklmnop",
		"://": "://",
	} {
		if got := Passwords(text); got != want {
			t.Errorf("%s became %s", text, got)
		}
	}
}
