// Command floor is a minimal Go program for the same job: one agent loop over net/http with four
// tools, no store, no checks, no permissions. The benchmarks in package bench compare adze with it.
// With the build tag least, it includes all of adze's packages and its store, which is a lower
// bound for adze itself.
//
// Usage: floor BASE_URL MODEL PROMPT
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

const tools = `[{"type":"function","function":{"name":"read","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}},` +
	`{"type":"function","function":{"name":"grep","parameters":{"type":"object","properties":{"pattern":{"type":"string"}}}}},` +
	`{"type":"function","function":{"name":"edit","parameters":{"type":"object","properties":{"path":{"type":"string"},"old_string":{"type":"string"},"new_string":{"type":"string"}}}}},` +
	`{"type":"function","function":{"name":"bash","parameters":{"type":"object","properties":{"command":{"type":"string"}}}}}]`

type call struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	Calls   []call `json:"tool_calls,omitempty"`
	CallID  string `json:"tool_call_id,omitempty"`
}

func main() {
	base, model, prompt := os.Args[1], os.Args[2], os.Args[3]
	commit, end := begin(prompt)
	history := []message{{Role: "system", Content: "You are a coding assistant."}, {Role: "user", Content: prompt}}
	for {
		answer := ask(base, model, history)
		history = append(history, answer)
		if len(answer.Calls) == 0 {
			fmt.Println(answer.Content)
			end()
			return
		}
		commit()
		for _, c := range answer.Calls {
			history = append(history, message{Role: "tool", CallID: c.ID, Content: run(c)})
		}
		commit()
	}
}

func ask(base, model string, history []message) message {
	body, err := json.Marshal(map[string]any{"model": model, "stream": true, "messages": history, "tools": json.RawMessage(tools)})
	check(err)
	res, err := http.Post(base+"/chat/completions", "application/json", bytes.NewReader(body))
	check(err)
	defer res.Body.Close()
	answer := message{Role: "assistant"}
	lines := bufio.NewReader(res.Body)
	for {
		line, err := lines.ReadString('\n')
		if data, ok := strings.CutPrefix(line, "data: "); ok && !strings.HasPrefix(data, "[DONE]") {
			take(&answer, data)
		}
		if err != nil {
			return answer
		}
	}
}

func take(answer *message, data string) {
	var chunk struct {
		Choices []struct {
			Delta struct {
				Content string `json:"content"`
				Calls   []call `json:"tool_calls"`
			} `json:"delta"`
		} `json:"choices"`
	}
	check(json.Unmarshal([]byte(data), &chunk))
	for _, c := range chunk.Choices {
		answer.Content += c.Delta.Content
		answer.Calls = append(answer.Calls, c.Delta.Calls...)
	}
}

func run(c call) string {
	var in struct{ Path, Pattern, Old_string, New_string, Command string }
	check(json.Unmarshal([]byte(c.Function.Arguments), &in))
	switch c.Function.Name {
	case "read":
		text, err := os.ReadFile(in.Path)
		check(err)
		return string(text)
	case "grep":
		return grep(in.Pattern)
	case "edit":
		text, err := os.ReadFile(in.Path)
		check(err)
		check(os.WriteFile(in.Path, bytes.Replace(text, []byte(in.Old_string), []byte(in.New_string), 1), 0o644))
		return "ok"
	}
	out, _ := exec.Command("bash", "-c", in.Command).CombinedOutput()
	return string(out)
}

func grep(pattern string) string {
	re := regexp.MustCompile(pattern)
	var b strings.Builder
	check(filepath.WalkDir(".", func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for i, line := range strings.Split(string(text), "\n") {
			if re.MatchString(line) {
				fmt.Fprintf(&b, "%s:%d: %s\n", path, i+1, line)
			}
		}
		return nil
	}))
	return b.String()
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
}
