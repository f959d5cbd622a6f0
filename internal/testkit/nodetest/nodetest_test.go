package nodetest_test

import (
	"os/exec"
	"strings"
	"testing"

	"adze/internal/testkit/nodetest"
)

func TestAScriptFindsThePackages(t *testing.T) {
	script := nodetest.Script(t, "a.mjs", `import { Client } from "@modelcontextprotocol/client"; console.log(typeof Client)`, "@modelcontextprotocol/client")
	out, err := exec.Command("node", script).CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "function" {
		t.Fatalf("%v: %s", err, out)
	}
}

func TestAProgramOfAPackageIsFound(t *testing.T) {
	out, err := exec.Command(nodetest.Program(t, "pyright", "pyright"), "--version").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "pyright 1.") {
		t.Fatalf("%v: %s", err, out)
	}
}
