// Package mcptest is an MCP server for tests with selectable behavior.
//
// The one rule: it writes the protocol by hand, to do things that no library allows.
//
// Start reading at Serve. Known limits: it handles requests one by one, except for calls to the
// tool hang.
package mcptest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// Word is the first argument that makes a test binary a server; the second selects its behavior.
const Word = "be-an-mcp-server"

// Serve runs the server and does not return if the program was started as one. Words, separated by
// semicolons, select the behavior: "modern", "old", "banner", "many 10000", "pages", "again",
// "instructions TEXT", "tool JSON", "start FILE", "deaf", "hold N" (the first N messages are
// answered together), "tell FILE" (logs each method as a line), and
// "exit|hang|silent|rubbish|huge|gigabyte|noise|refuse at METHOD".
func Serve() {
	if len(os.Args) != 3 || os.Args[1] != Word {
		return
	}
	f := &fake{in: bufio.NewReaderSize(os.Stdin, 1<<20), pages: 1}
	for word := range strings.SplitSeq(os.Args[2], ";") {
		f.words = append(f.words, strings.TrimSpace(word))
	}
	f.serve()
	os.Exit(0)
}

type fake struct {
	words []string
	can   json.RawMessage // client capabilities
	in    *bufio.Reader
	pages int
	later [][]byte // requests received while waiting for an answer
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string          `json:"name"`
		Cursor    string          `json:"cursor"`
		Arguments json.RawMessage `json:"arguments"`
		Can       json.RawMessage `json:"capabilities"`
		Meta      struct {
			Token json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	} `json:"params"`
}

func (f *fake) does(word string) bool {
	_, ok := f.said(word)
	return ok
}

// said returns the text after a word.
func (f *fake) said(word string) (string, bool) {
	for _, w := range f.words {
		if w == word {
			return "", true
		}
		if rest, ok := strings.CutPrefix(w, word+" "); ok {
			return rest, true
		}
	}
	return "", false
}

func (f *fake) serve() {
	if f.does("banner") {
		fmt.Print("Welcome to the server!\n[INFO] listening\n{ not a message }\n\n\ufeff")
	}
	if file, ok := f.said("start"); ok { // each start appends a byte
		if out, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
			fmt.Fprint(out, ".")
			out.Close()
		}
	}
	hold, held := 0, [][]byte(nil)
	if n, ok := f.said("hold"); ok {
		hold, _ = strconv.Atoi(n)
	}
	for {
		for len(f.later) > 0 {
			raw := f.later[0]
			f.later = f.later[1:]
			f.take(raw)
		}
		raw, err := f.in.ReadBytes('\n')
		if err != nil {
			if f.does("deaf") {
				<-time.After(time.Hour)
			}
			return
		}
		if held = append(held, raw); len(held) < hold {
			continue
		}
		for _, raw := range held {
			f.take(raw)
		}
		hold, held = 0, nil
	}
}

func (f *fake) take(raw []byte) {
	var m message
	if json.Unmarshal(raw, &m) != nil || m.Method == "" {
		return
	}
	if file, ok := f.said("tell"); ok {
		if out, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
			fmt.Fprintln(out, m.Method)
			out.Close()
		}
	}
	if f.does("silent at " + m.Method) {
		return
	}
	f.misbehave(m)
	f.answer(m)
}

func (f *fake) misbehave(m message) {
	at := " at " + m.Method
	switch {
	case f.does("exit" + at):
		fmt.Fprint(os.Stderr, "first words\ncannot go on\n")
		os.Exit(3)
	case f.does("hang" + at):
		<-time.After(time.Hour)
	case f.does("rubbish" + at):
		fmt.Println(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":17}`)
	case f.does("huge" + at):
		fmt.Println(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"x":"` + strings.Repeat("x", 20<<20) + `"}}`)
	case f.does("gigabyte" + at):
		Gigabyte(os.Stdout, string(m.ID))
	case f.does("noise" + at):
		for {
			if _, err := fmt.Println(strings.Repeat("noise ", 1000)); err != nil {
				os.Exit(0)
			}
		}
	case f.does("complain" + at):
		for range 1 << 14 {
			fmt.Fprintln(os.Stderr, strings.Repeat("complaint ", 100))
		}
	}
}

// Gigabyte writes a result for reading a resource or calling a tool with that much text. It stops
// if nobody reads.
func Gigabyte(to io.Writer, id string) {
	if _, err := io.WriteString(to, `{"jsonrpc":"2.0","id":`+id+`,"result":{"contents":[],"content":[{"type":"text","text":"`); err != nil {
		return
	}
	piece := strings.Repeat("x", 1<<20)
	for range 1 << 10 {
		if _, err := io.WriteString(to, piece); err != nil {
			return
		}
	}
	_, _ = io.WriteString(to, `"}]}}`+"\n") // until nobody reads
}

func (f *fake) reply(m message, result string) {
	if len(m.ID) > 0 {
		fmt.Println(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + result + `}`)
	}
}

func (f *fake) refuse(m message, code int, why string) {
	if len(m.ID) > 0 {
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`+"\n", m.ID, code, why)
	}
}

func (f *fake) answer(m message) {
	text, _ := f.said("instructions")
	instructions, _ := json.Marshal(text)
	switch m.Method {
	case "server/discover":
		if !f.does("modern") {
			f.refuse(m, -32601, "Method not found")
			return
		}
		f.reply(m, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"instructions":`+string(instructions)+`}`)
	case "initialize":
		if f.does("modern") {
			f.refuse(m, -32601, "Method not found")
			return
		}
		f.can = m.Params.Can
		f.reply(m, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"fake","version":"1"},"instructions":`+string(instructions)+`}`)
	case "tools/list":
		f.list(m)
	case "tools/call":
		f.call(m)
	case "ping":
		f.reply(m, `{}`)
	default:
		f.refuse(m, -32601, "Method not found")
	}
}

func (f *fake) list(m message) {
	var tools []string
	for _, w := range f.words {
		if tool, ok := strings.CutPrefix(w, "tool "); ok {
			tools = append(tools, tool)
		}
		if file, ok := strings.CutPrefix(w, "tools from "); ok { // one tool per line; it may change while the server runs
			raw, _ := os.ReadFile(file)
			tools = append(tools, strings.Split(strings.TrimSpace(string(raw)), "\n")...)
		}
	}
	if many, ok := f.said("many"); ok {
		n, _ := strconv.Atoi(many)
		for i := range n {
			tools = append(tools, fmt.Sprintf(`{"name":"t%d","description":"does %d","inputSchema":{"type":"object"}}`, i, i))
		}
	}
	if len(tools) == 0 {
		tools = []string{Echo}
	}
	next := ""
	switch {
	case f.does("pages"):
		f.pages++
		next = fmt.Sprintf(`,"nextCursor":"%d"`, f.pages)
	case f.does("again"):
		next = `,"nextCursor":"same"`
	}
	f.reply(m, `{"tools":[`+strings.Join(tools, ",")+`]`+next+`}`)
}

// Echo is the default tool.
const Echo = `{"name":"echo","description":"says it again","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}}`

func (f *fake) call(m message) {
	var args struct{ Text string }
	_ = json.Unmarshal(m.Params.Arguments, &args) // tests send valid arguments or expect zero values
	if said, ok := f.said("answer"); ok {
		f.reply(m, said)
		return
	}
	switch {
	case args.Text == "hang": // no answer; later requests are answered
		return
	case args.Text == "die":
		fmt.Fprintln(os.Stderr, "I die")
		os.Exit(4)
	case strings.HasPrefix(args.Text, "progress "): // answers once a file with this name shows that the progress was seen
		for i := 1; i <= 3; i++ {
			fmt.Printf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"total":3,"message":"step %d"}}`+"\n", m.Params.Meta.Token, i, i)
		}
		for {
			if _, err := os.Stat(strings.TrimPrefix(args.Text, "progress ")); err == nil {
				break
			}
			<-time.After(time.Millisecond)
		}
	case strings.HasPrefix(args.Text, "loop "): // a method and its params: repeats the request until the call is canceled
		for f.ask(strings.TrimPrefix(args.Text, "loop ")) != "cancelled" {
		}
		return
	case strings.HasPrefix(args.Text, "for ever "): // the same, also after cancellation
		for {
			f.ask(strings.TrimPrefix(args.Text, "for ever "))
		}
	case strings.HasPrefix(args.Text, "ask "): // a method and its params; answers with the response
		args.Text = f.ask(strings.TrimPrefix(args.Text, "ask "))
	case strings.HasPrefix(args.Text, "long "): // answers with a text of this many bytes
		n, _ := strconv.Atoi(strings.TrimPrefix(args.Text, "long "))
		args.Text = strings.Repeat("x", n)
	case args.Text == "capabilities":
		args.Text = string(f.can)
	case args.Text == "changed":
		fmt.Println(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	}
	said, _ := json.Marshal(args.Text)
	f.reply(m, `{"content":[{"type":"text","text":`+string(said)+`}]}`)
}

// ask sends a request, a method and its params, and returns the raw response, or "cancelled" if the
// call was canceled first.
func (f *fake) ask(what string) string {
	method, params, _ := strings.Cut(what, " ")
	if params == "" {
		params = "{}"
	}
	fmt.Println(`{"jsonrpc":"2.0","id":"asked","method":"` + method + `","params":` + params + `}`)
	for {
		raw, err := f.in.ReadBytes('\n')
		if err != nil {
			os.Exit(0)
		}
		var back struct {
			ID            json.RawMessage
			Method        string
			Result, Error json.RawMessage
		}
		switch err := json.Unmarshal(raw, &back); {
		case err != nil:
		case string(back.ID) == `"asked"`:
			return string(back.Result) + string(back.Error)
		case back.Method == "notifications/cancelled":
			return "cancelled"
		case back.Method != "" && len(back.ID) > 0:
			f.later = append(f.later, raw)
		}
	}
}
