package run_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

// A generated conversation: the calls of one step after another, as a model makes them that gets
// nowhere, or one that works.
type loopKind struct {
	name string
	loop bool // the run has to end as a loop; else it has to reach its end
	most int  // requests that a loop may take
	step func(r *rand.Rand, n int) []string
}

func bashCall(command string) string { return callLine("bash", "command", command) }

func callLine(name string, pairs ...string) string {
	args := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		args[pairs[i]] = pairs[i+1]
	}
	raw, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf("call %s: %s", name, raw)
}

func pickOne(r *rand.Rand, of ...string) string { return of[r.IntN(len(of))] }

func word(r *rand.Rand) string {
	b := make([]byte, 6)
	for i := range b {
		b[i] = byte('a' + r.IntN(26))
	}
	return string(b)
}

func loopKinds() []loopKind {
	return []loopKind{
		{"counter in a comment", true, 30, func(r *rand.Rand, n int) []string {
			return []string{bashCall(fmt.Sprintf("%s # %s %d", pickOne(r, "false", "exit 3", "ls /nosuch"), word(r), n))}
		}},
		{"edits that do not match", true, 40, func(r *rand.Rand, n int) []string {
			return []string{callLine("edit", "path", "main.go", "old_string", "func "+word(r)+"() {", "new_string", "x")}
		}},
		{"rephrased", true, 40, func(r *rand.Rand, n int) []string {
			return []string{bashCall(fmt.Sprintf(pickOne(r, "make %[1]s", "make -s %[1]s", "make -B %[1]s 2>&1", "cd . && make %[1]s")+" # %[2]d", "nosuch", n))}
		}},
		{"a tool that is none", true, 30, func(r *rand.Rand, n int) []string {
			return []string{fmt.Sprintf("call frobnicate%d: {\"a\":%d}", n, n)}
		}},
		{"arguments that are wrong", true, 30, func(r *rand.Rand, n int) []string {
			return []string{fmt.Sprintf("call read: {\"paths\":[%d]}", n)}
		}},
		{"a list of files changed by commands", false, 0, func(r *rand.Rand, n int) []string {
			return []string{bashCall(fmt.Sprintf("sed -i s/$/x/ f%02d.txt", n%40))}
		}},
	}
}

// A model that gets nowhere is stopped, whatever it varies; one that works is not. Real tools
// answer a generated conversation with what package session/loop, which has the other kinds, only
// imitates. ADZE_LOOPS=N runs N seeds of each kind.
func TestGeneratedLoops(t *testing.T) {
	seeds, _ := strconv.Atoi(os.Getenv("ADZE_LOOPS"))
	for _, k := range loopKinds() {
		for seed := range uint64(max(1, seeds)) {
			t.Run(fmt.Sprintf("%s/%d", k.name, seed), func(t *testing.T) {
				t.Parallel()
				u := newUser(t)
				for i := range 40 {
					u.file(fmt.Sprintf("f%02d.txt", i), fmt.Sprintf("the text of file %d\n", i))
				}
				u.file("main.go", "package main\n")
				r := rand.New(rand.NewPCG(seed, 4))
				steps := 40
				if k.loop {
					steps = k.most
				}
				var script strings.Builder
				for n := range steps {
					fmt.Fprintf(&script, "-- %d --\n%s\n", n+1, strings.Join(k.step(r, n), "\n"))
				}
				fmt.Fprintf(&script, "-- %d --\ntext: end\n", steps+1)
				got := u.run("-p", "--output-format", "json", "--permission-mode", "yolo", u.script(script.String()), "hi")
				if k.loop {
					got.wants(13)
				} else {
					got.wants(0)
				}
				if res := got.result(); k.loop != (res["cause"] == "loop") {
					t.Errorf("cause %v after %v requests: %v", res["cause"], res["turns"], res["message"])
				} else {
					t.Logf("%v after %v requests", res["cause"], res["turns"])
				}
			})
		}
	}
}
