package run_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"adze/internal/testkit/llmtest"
)

// habit is one way in which a small model goes wrong with its call, and with what it does when it
// is told.
type habit struct {
	name string
	// write is the call as the model writes it; told says that its last call was not understood.
	write func(r *rand.Rand, name, arguments string, told bool) string
}

func habits() []habit {
	plain := callOf
	learns := func(wrong func(r *rand.Rand, name, arguments string) string) func(*rand.Rand, string, string, bool) string {
		return func(r *rand.Rand, name, arguments string, told bool) string {
			if told {
				return plain(name, arguments)
			}
			return wrong(r, name, arguments)
		}
	}
	words := func(r *rand.Rand) string {
		return []string{"I call. ", "Let me do that now:\n", "Ich mache das. ", "Sure, one moment. The file has to be looked at before anything else can be done.\n", ""}[r.IntN(5)]
	}
	return []habit{
		{"no mistake", func(r *rand.Rand, name, arguments string, _ bool) string { return words(r) + plain(name, arguments) }},
		{"a name that is not offered", learns(func(r *rand.Rand, name, arguments string) string {
			return words(r) + plain([]string{"open", "execute_it", "do_" + "step", "functions.run"}[r.IntN(4)], arguments)
		})},
		{"never an offered name", func(r *rand.Rand, name, arguments string, _ bool) string {
			return words(r) + plain("do_step", arguments)
		}},
		{"the marks are left out", func(r *rand.Rand, name, arguments string, _ bool) string {
			return words(r) + fmt.Sprintf("\n{\"name\": %q, \"arguments\": %s}", name, arguments)
		}},
		{"in a fence", func(r *rand.Rand, name, arguments string, _ bool) string {
			return words(r) + fmt.Sprintf("\n```json\n{\"name\": %q, \"arguments\": %s}\n```", name, arguments)
		}},
		{"the marks of another family", func(r *rand.Rand, name, arguments string, _ bool) string {
			forms := []string{"[TOOL_CALLS][{\"name\": %q, \"arguments\": %s}]", "<|python_tag|>{\"name\": %q, \"parameters\": %s}"}
			return words(r) + fmt.Sprintf("\n"+forms[r.IntN(len(forms))], name, arguments)
		}},
		{"only announced", learns(func(r *rand.Rand, _, _ string) string {
			return []string{"I'll do that now:", "Let me run it...", "Ich werde jetzt die Datei schreiben:"}[r.IntN(3)]
		})},
		{"nothing at all", learns(func(*rand.Rand, string, string) string { return "" })},
		{"the end is missing", learns(func(r *rand.Rand, name, arguments string) string {
			return words(r) + fmt.Sprintf("<tool_call>\n{\"name\": %q, \"arguments\": %s", name, arguments[:len(arguments)-1])
		})},
	}
}

// TestWholeRunsOfSmallModels runs whole tasks of models with bad habits against an Ollama. A run is
// right when its file was written as meant, failed when it ended with a cause, and wrong when it
// ended well without that: there may be none. ADZE_OLLAMA_RUNS is how many runs there are.
func TestWholeRunsOfSmallModels(t *testing.T) {
	runs := 18
	if n, err := strconv.Atoi(os.Getenv("ADZE_OLLAMA_RUNS")); err == nil {
		runs = n
	}
	seed := rand.Uint64()
	if n, err := strconv.ParseUint(os.Getenv("ADZE_OLLAMA_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("ADZE_OLLAMA_SEED=%d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	all := habits()
	right, failed, wrong := map[string]int{}, map[string]int{}, 0
	for i := range runs {
		h := all[i%len(all)]
		content := fmt.Sprintf("line %d of %d\n", r.IntN(1000), i)
		u := newUser(t)
		u.file("a.txt", content)
		steps := []string{
			`read {"path": "a.txt"}`,
			fmt.Sprintf(`write {"path": "b.txt", "content": %q}`, content),
		}
		made := 0
		var mu sync.Mutex                                 // requests come on goroutines of their own
		chance := rand.New(rand.NewPCG(r.Uint64(), seed)) // of the handler
		s := startOllama(t, u, &llmtest.OllamaServer{
			Tag: []string{"<tool_call>", "<tool_call>", "{", "[TOOL_CALLS]"}[r.IntN(4)], Thinks: r.IntN(3) == 0,
			Write: func(asked llmtest.OllamaRequest) string {
				mu.Lock()
				defer mu.Unlock()
				last := asked.Messages[len(asked.Messages)-1]
				if last.Role == "tool" || strings.Contains(last.Content, "<tool_response") {
					made++
				}
				if made == len(steps) {
					return "The text stands in b.txt now."
				}
				name, arguments, _ := strings.Cut(steps[made], " ")
				return h.write(chance, name, arguments, last.Role == "user" && strings.Contains(last.Content, "by exactly these names"))
			}})
		model := []string{"ollama", "openai"}[r.IntN(2)] + "/qwen:7b"
		out := u.run("-p", "--permission-mode", "yolo", "--model", model, "copy a.txt to b.txt")
		got, _ := os.ReadFile(filepath.Join(u.dir, "b.txt"))
		switch {
		case string(got) == content && out.code == 0:
			right[h.name]++
		case out.code != 0 && (len(got) == 0 || string(got) == content):
			failed[h.name]++
		default:
			wrong++
			t.Errorf("%s, %s: exit %d, b.txt is %q, want %q\n%s", h.name, model, out.code, got, content, out.out)
		}
		s.Close()
	}
	good := 0
	for _, h := range all {
		good += right[h.name]
		t.Logf("%-28s right %2d, failed %2d", h.name, right[h.name], failed[h.name])
		if failed[h.name] > 0 && h.name != "never an offered name" {
			t.Errorf("%s: %d runs failed", h.name, failed[h.name])
		}
	}
	t.Logf("%d of %d runs are right, %d wrong", good, runs, wrong)
}
