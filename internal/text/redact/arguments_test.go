package redact_test

import (
	"strings"
	"testing"

	"adze/internal/text/redact"
)

func TestSecretsOfACommandAreMasked(t *testing.T) {
	const hidden = "hunter2hunter2"
	for _, command := range []string{
		"mysql --password=" + hidden + " -h db", "tool --token " + hidden, "tool --api-key " + hidden + " run", "env API_TOKEN=" + hidden + " server",
		"curl -H Authorization: Bearer " + hidden + " https://a.example", "psql postgres://me:" + hidden + "@db/x", "java -Dclient.secret=" + hidden,
		"node server.js --client-secret=" + hidden + " --port 80", "x --password " + hidden + " --token " + hidden,
	} {
		if got := redact.Arguments(command); strings.Contains(got, hidden) || !strings.Contains(got, redact.Mark) {
			t.Errorf("%s: %s", command, got)
		}
	}
	for _, command := range []string{"", "vim token.go", "go test ./internal/text/redact -run Password", "ssh-agent -s", "monkey --keyboard us", "cat --password", "keyd --config a=b", "tokend -v"} {
		if got := redact.Arguments(command); got != command {
			t.Errorf("%s: %s", command, got)
		}
	}
}
