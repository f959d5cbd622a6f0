package run_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"adze/internal/testkit/llmtest"
)

// callOf is a call as Hermes and Qwen write it.
func callOf(name, arguments string) string {
	return fmt.Sprintf("<tool_call>\n{\"name\": %q, \"arguments\": %s}\n</tool_call>", name, arguments)
}

// startOllama serves a written model, and tells the user where.
func startOllama(t *testing.T, u *user, s *llmtest.OllamaServer) *llmtest.OllamaServer {
	t.Helper()
	if s.Model == "" {
		s.Model = "qwen:7b"
	}
	if s.Tag == "" {
		s.Tag = "<tool_call>"
	}
	s.Start()
	t.Cleanup(s.Close)
	u.env = append(u.env, "OLLAMA_HOST="+s.URL, "OPENAI_BASE_URL="+s.URL+"/v1")
	return s
}

// A call of a name that was not offered is dropped by the server, and the words before it are no
// answer.
func TestADroppedCallIsNoAnswer(t *testing.T) {
	wrong, right := "I call. "+callOf("open_file", `{"filename": "a.txt"}`), "I read it. "+callOf("read", `{"path": "a.txt"}`)
	for name, c := range map[string]struct {
		says []string
		exit int
		want []string
	}{
		"asked again, it calls":     {[]string{wrong, right, "It is plover."}, 0, []string{"It is plover."}},
		"asked again, it is wrong":  {[]string{wrong, wrong}, 14, []string{"most likely a call that the server could not read", "hint:"}},
		"asked again, it answers":   {[]string{wrong, "I cannot read it."}, 0, []string{"I cannot read it."}},
		"a thought before the call": {[]string{"<think>The user wants the word.</think>\n\n" + wrong, right, "It is plover."}, 0, []string{"It is plover."}},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t)
			u.file("a.txt", "the secret word is plover\n")
			n := 0
			s := startOllama(t, u, &llmtest.OllamaServer{Thinks: strings.Contains(name, "thought"), Write: func(llmtest.OllamaRequest) string {
				n++
				return c.says[min(n, len(c.says))-1]
			}})
			u.run("-p", "--model", "ollama/qwen:7b", "what is the word?").wants(c.exit, c.want...)
			asked := s.Asked()
			if len(asked) != len(c.says) {
				t.Fatalf("%d requests, want %d", len(asked), len(c.says))
			}
			last := asked[1].Messages[len(asked[1].Messages)-1]
			if last.Role != "user" || !strings.Contains(last.Content, "run_command") || !strings.Contains(last.Content, "read") || strings.Contains(last.Content, "bash") {
				t.Errorf("the model was told %q", last.Content)
			}
		})
	}
}

// chats are the paths of the requests for an answer.
func chats(s *llmtest.OllamaServer) (paths []string) {
	for _, r := range s.Asked() {
		paths = append(paths, fmt.Sprint(r.Path, " ", r.Refused))
	}
	return paths
}

func always(text string) func(llmtest.OllamaRequest) string {
	return func(llmtest.OllamaRequest) string { return text }
}

// The same server gets the same prompt, tools and names at every address, however quickly it
// answers.
func TestAServerIsSpokenToInTheSameWayAtEveryAddress(t *testing.T) {
	var first llmtest.OllamaRequest
	for _, model := range []string{"ollama/qwen:7b", "openai/qwen:7b", "mine/qwen:7b"} {
		u := newUser(t)
		s := startOllama(t, u, &llmtest.OllamaServer{Write: always("It is fine.")})
		u.configure(`{"providers": {"mine": {"base_url": "` + s.URL + `/v1"}}}`)
		u.run("-p", "--model", model, "what is this?").wants(0, "It is fine.")
		if got := chats(s); !slices.Equal(got, []string{"/api/chat 0"}) {
			t.Fatalf("%s: %q", model, got)
		}
		r := s.Asked()[0]
		if first.Model == "" {
			first = r
		}
		if !slices.Equal(r.Tools, first.Tools) || !slices.Contains(r.Tools, "run_command") || len(r.Messages[0].Content)-len(first.Messages[0].Content) > 200 ||
			!strings.HasPrefix(r.Messages[0].Content, "You are adze, a coding assistant that works through tools.\nDo this") {
			t.Errorf("%s: tools %q, system prompt of %d bytes; with ollama/ %q, %d", model, r.Tools, len(r.Messages[0].Content), first.Tools, len(first.Messages[0].Content))
		}
	}
}

// A session that goes on asks the server in the format in which it began, whatever can be seen of
// the server then.
func TestTheFormatStaysForASession(t *testing.T) {
	for name, hidden := range map[string]bool{"/api/chat 0": false, "/v1/chat/completions 0": true} {
		u := newUser(t)
		s := &llmtest.OllamaServer{Write: always("It is fine.")}
		s.Hidden.Store(hidden)
		startOllama(t, u, s)
		u.run("-p", "--model", "openai/qwen:7b", "hi").wants(0, "It is fine.")
		if !hidden {
			s.HideVersion.Store(true)
		}
		s.Hidden.Store(false)
		u.run("-p", "--continue", "go on").wants(0, "It is fine.")
		if got := chats(s); !slices.Equal(got, []string{name, name}) {
			t.Errorf("%q, want %s twice", got, name)
		}
		if a, b := s.Asked()[0], s.Asked()[1]; !slices.Equal(a.Tools, b.Tools) {
			t.Errorf("tools %q, then %q", a.Tools, b.Tools)
		}
	}
}

// A server that says nothing about itself in time is asked in the compatible format, which is said.
func TestASilentServerIsAskedAsConfigured(t *testing.T) {
	u := newUser(t)
	s := &llmtest.OllamaServer{Write: always("It is fine.")}
	s.Silent.Store(true)
	startOllama(t, u, s)
	u.run("-p", "--output-format", "stream-json", "--model", "openai/qwen:7b", "hi").wants(0, "It is fine.", "did not say within 2s which program answers there")
	if got := chats(s); !slices.Equal(got, []string{"/v1/chat/completions 0"}) {
		t.Errorf("%q", got)
	}
}

// A model that has no tools, as its server says, is never sent any.
func TestAModelThatIsKnownToHaveNoTools(t *testing.T) {
	for _, model := range []string{"ollama/qwen:7b", "openai/qwen:7b"} {
		u := newUser(t)
		u.file("a.txt", "the secret word is plover\n")
		says := []string{callOf("read", `{"path": "a.txt"}`), "It is plover."}
		n := 0
		s := startOllama(t, u, &llmtest.OllamaServer{NoTools: true, Write: func(llmtest.OllamaRequest) string {
			n++
			return says[min(n, 2)-1]
		}})
		u.run("-p", "--output-format", "stream-json", "--model", model, "what is the word?").wants(0, "It is plover.", "takes no tools")
		if got := chats(s); !slices.Equal(got, []string{"/api/chat 0", "/api/chat 0"}) {
			t.Errorf("%s: %q", model, got)
		}
	}
}

// What is piped in and the schema of an answer bring no tools: only the user's own words do.
func TestOnlyTheUsersWordsBringTools(t *testing.T) {
	u := newUser(t)
	u.file("schema.json", `{"type":"object","properties":{"processes":{"type":"array","description":"todo list of web pages to fetch, git log of commits, running jobs"}}}`)
	s := startOllama(t, u, &llmtest.OllamaServer{Write: always(`{"processes":[]}`)})
	piped := "git status, git log, fetch the web page, list processes, todo list, plan, background jobs\n"
	u.run("-p", "--model", "ollama/qwen:7b", "what is this?").wants(0)
	u.runWith(strings.NewReader(piped), "-p", "--model", "ollama/qwen:7b", "--output-schema", "schema.json", "what is this?").wants(0)
	asked := s.Asked()
	if a, b := asked[0].Tools, asked[1].Tools; !slices.Equal(a, b) {
		t.Errorf("%d tools are offered: %q; with a schema and stdin %d: %q", len(a), a, len(b), b)
	}
	u.runWith(strings.NewReader("fetch the web page https://example.com/\n"), "-p", "--model", "ollama/qwen:7b").wants(0)
	if tools := s.Asked()[2].Tools; !slices.Contains(tools, "download_url") {
		t.Errorf("a prompt that is piped in brings %q", tools)
	}
}

// A first message that is too long costs no request for a summary of it, which would be as long;
// what is certainly too long is not sent at all.
func TestATooLongFirstMessage(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		sent int
	}{
		"may fit":            {strings.Repeat("0123456789 ", 6000), 1},
		"certainly does not": {strings.Repeat("some words of prose ", 12000), 0},
	} {
		for model, hidden := range map[string]bool{"ollama/qwen:7b": false, "openai/qwen:7b": false, "openai/qwen": true} {
			t.Run(fmt.Sprintf("%s, %s, hidden %v", name, model, hidden), func(t *testing.T) {
				u := newUser(t)
				s := &llmtest.OllamaServer{Context: 9000, Write: always("It is fine.")}
				if hidden { // the compatible format, in which no server tells its context
					u.configure(`{"models": {"openai/qwen": {"context": 9000}}}`)
					s.Model, s.Default = "qwen", 9000
					s.Hidden.Store(true)
				}
				startOllama(t, u, s)
				u.runWith(strings.NewReader(c.text), "-p", "--model", model, "what is this?").wants(5, "context")
				if got := chats(s); len(got) != c.sent {
					t.Errorf("%q", got)
				}
			})
		}
	}
}
