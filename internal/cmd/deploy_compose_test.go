package cmd_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"adze/internal/testkit/effort"
	"adze/internal/testkit/natstest"
)

// TestComposeRunsAsItIsWritten runs the commands of compose.yaml without a container: three servers
// of its script and configuration, its worker, and the command lines of its head, each with the
// environment that stands there.
func TestComposeRunsAsItIsWritten(t *testing.T) {
	effort.Needs(t, effort.Short, "it starts a cluster")
	needs(t, "git")
	needs(t, "sh")
	d, u := readDeployed(t), newUser(t).withName()
	server := natstest.Program(t)
	compose := d.docs["compose.yaml"]
	dir := t.TempDir()
	// The head of the file says how the passwords are made.
	head := regexp.MustCompile(`(?m)^#   (for user in .*)$`).FindStringSubmatch(d.text["compose.yaml"])
	if head == nil {
		t.Fatal("the head does not say how passwords are made")
	}
	if err := os.MkdirAll(filepath.Join(dir, "deploy", "secrets"), 0o700); err != nil {
		t.Fatal(err)
	}
	made := exec.Command("sh", "-c", strings.ReplaceAll(head[1], "openssl rand -hex 32", "od -An -N32 -tx1 /dev/urandom | tr -d ' \\n'"))
	made.Dir = dir
	if out, err := made.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	secrets := filepath.Join(dir, "deploy", "secrets")
	// Names of the network become ports of this machine.
	var pairs []string
	ports := natstest.FreePorts(t, 9)
	for n := range 3 {
		for i, port := range []string{"4222", "8222", "6222"} {
			pairs = append(pairs, fmt.Sprintf("nats-%d.nats:%s", n, port), fmt.Sprint("127.0.0.1:", ports[3*n+i]))
		}
	}
	names := strings.NewReplacer(pairs...)
	for n := range 3 {
		service := fmt.Sprintf("nats-%d", n)
		own := filepath.Join(dir, service)
		if err := os.MkdirAll(own, 0o700); err != nil {
			t.Fatal(err)
		}
		conf := d.text["nats.conf"]
		for _, port := range []string{"4222", "8222", "6222"} {
			conf = strings.Replace(conf, `"0.0.0.0:`+port+`"`, `"`+names.Replace(service+".nats:"+port)+`"`, 1)
		}
		conf = names.Replace(strings.Replace(conf, `"/data"`, fmt.Sprintf("%q", filepath.Join(own, "data")), 1))
		if err := os.WriteFile(filepath.Join(own, "nats.conf"), []byte(conf), 0o600); err != nil {
			t.Fatal(err)
		}
		script := strings.ReplaceAll(fmt.Sprint(at(compose, "services", service, "command", 0)), "$$", "$")
		script = strings.NewReplacer("/run/secrets", secrets, "/etc/nats", own, "nats-server -c", server+" -c").Replace(script)
		cmd := exec.Command("/bin/sh", "-c", script)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), fmt.Sprint("NATS_NAME=", at(compose, "services", service, "environment", "NATS_NAME"))}
		var said bytes.Buffer
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			if t.Failed() {
				t.Logf("%s: %.2000s", service, said.String())
			}
		})
	}
	service := func(name string, args ...string) *exec.Cmd {
		cmd := u.command(args...)
		for variable, value := range at(compose, "services", name, "environment").(map[string]any) {
			cmd.Env = append(cmd.Env, variable+"="+strings.ReplaceAll(names.Replace(fmt.Sprint(value)), "/run/secrets", secrets))
		}
		return cmd
	}
	var args []string
	for _, word := range words(at(compose, "services", "worker", "command")) {
		switch {
		case word == "degraded" && args[len(args)-1] == "--sandbox-level":
			word = "none" // of the machine that tests
		}
		args = append(args, word)
	}
	repo := u.repository("r")
	worker := service("worker", append(args, "--allow-folder", filepath.Dir(repo), "--allow-mode", "yolo", "--dir", t.TempDir())...)
	var log bytes.Buffer
	worker.Stderr = &log
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = worker.Process.Signal(syscall.SIGTERM)
		_ = worker.Wait()
		if t.Failed() {
			t.Logf("worker: %s", log.String())
		}
	})
	u.file("t.jsonl", fmt.Sprintf("{\"id\":\"a\",\"repo\":%q,\"command\":\"echo x >x.txt\"}\n", repo))
	run := func(name string, more ...string) string {
		t.Helper()
		line := regexp.MustCompile(`(?m)^#   docker compose .* run --rm (?:-v \S+ -w \S+ )?` + name + ` (.*)$`).FindStringSubmatch(d.text["compose.yaml"])
		if line == nil {
			t.Fatalf("the head has no line for %s", name)
		}
		line[1] = strings.ReplaceAll(line[1], "tasks.jsonl", "t.jsonl")
		var out []byte
		var err error
		until(t, name+" that succeeds", func() bool { // servers elect who leads first, and a worker makes the streams
			out, err = service(name, append(strings.Fields(line[1]), more...)...).CombinedOutput()
			return err == nil || !strings.Contains(string(out), "no NATS server answers") && !strings.Contains(string(out), "does not let its user")
		})
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		return string(out)
	}
	run("submit", "--", "--permission-mode", "yolo")
	if r := u.batchResults(filepath.Join(u.dir, "t.batch"))["a"]; len(r) != 1 || !r[0].OK {
		t.Errorf("%+v", r)
	}
	if out := run("owner"); !strings.Contains(out, "waiting") {
		t.Error(out)
	}
}
