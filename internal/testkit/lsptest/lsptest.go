// Package lsptest is a language server for tests with selectable behavior.
//
// The one rule: its results depend only on the last text it received.
//
// Start reading at Serve. Known limits: it implements only the part of the protocol that tests
// need, with pushed, pulled or no diagnostics.
package lsptest

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

// Word is the first argument that makes a test binary a language server; the second selects its
// behavior.
const Word = "be-a-language-server"

// Serve runs the server and does not return if the program was started as one. Words select the
// behavior: silent, pull, no version, utf-8, banner, deletes, and exit, hang, huge or rubbish at a
// method. At "gate at METHOD" it waits for a write to the FIFO gate.fifo in its folder. With
// "writes:PATH" at the end it creates that file first.
func Serve() {
	if len(os.Args) != 3 || os.Args[1] != Word {
		return
	}
	fake{how: os.Args[2], in: bufio.NewReader(os.Stdin), texts: map[string]string{}}.serve()
	os.Exit(0)
}

// fake reports each word BAD as an error and ODD as a warning. The words in how select its
// behavior.
type fake struct {
	how   string
	in    *bufio.Reader
	texts map[string]string
}

func (f fake) does(what string) bool { return strings.Contains(f.how, what) }

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		TextDocument struct {
			URI     string `json:"uri"`
			Version int    `json:"version"`
			Text    string `json:"text"`
		} `json:"textDocument"`
		ContentChanges []struct {
			Text string `json:"text"`
		} `json:"contentChanges"`
		NewName string `json:"newName"`
	} `json:"params"`
}

func (f fake) serve() {
	if _, path, ok := strings.Cut(f.how, "writes:"); ok {
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	if f.does("banner") {
		fmt.Println("Welcome to the server!")
	}
	for {
		m, err := f.read()
		if err != nil || f.does("exit at "+m.Method) {
			fmt.Fprintln(os.Stderr, "first words")
			fmt.Fprintln(os.Stderr, "cannot go on")
			os.Exit(3)
		}
		if f.does("hang at " + m.Method) {
			<-time.After(time.Hour)
		}
		if m.Method != "" && f.does("gate at "+m.Method) {
			_, _ = os.ReadFile("gate.fifo") // a missing FIFO does not block
		}
		if f.does("huge at " + m.Method) {
			fmt.Print("Content-Length: 999999999999\r\n\r\n{}")
		}
		if f.does("rubbish at " + m.Method) {
			fmt.Print("Content-Length: 4\r\n\r\n{{{{")
		}
		f.answer(m)
	}
}

func (f fake) answer(m message) {
	uri, version := m.Params.TextDocument.URI, m.Params.TextDocument.Version
	switch m.Method {
	case "initialize":
		caps := `"textDocumentSync":1`
		if f.does("pull") {
			caps += `,"diagnosticProvider":{"interFileDependencies":true}`
		}
		if f.does("utf-8") {
			caps += `,"positionEncoding":"utf-8"`
		}
		f.reply(m, `{"capabilities":{`+caps+`}}`)
		f.write(`{"jsonrpc":"2.0","id":"c1","method":"workspace/configuration","params":{"items":[{},{}]}}`)
		f.write(`{"jsonrpc":"2.0","id":"e1","method":"workspace/applyEdit","params":{"edit":{}}}`)
	case "textDocument/didOpen":
		f.texts[uri] = m.Params.TextDocument.Text
		f.push(uri, version)
	case "textDocument/didChange":
		f.texts[uri] = m.Params.ContentChanges[0].Text
		f.push(uri, version)
	case "textDocument/diagnostic":
		f.reply(m, `{"kind":"full","items":`+f.found(uri)+`}`)
	case "textDocument/rename":
		f.reply(m, f.rename(m.Params.NewName))
	case "textDocument/didClose", "textDocument/didSave", "initialized", "workspace/didChangeWatchedFiles", "":
	default:
		f.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no %s"}}`, m.ID, m.Method))
	}
}

func (f fake) push(uri string, version int) {
	if f.does("silent") || f.does("pull") {
		return
	}
	v := fmt.Sprintf(`,"version":%d`, version)
	if f.does("no version") {
		v = ""
	}
	f.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":%q%s,"diagnostics":%s}}`, uri, v, f.found(uri)))
}

func (f fake) found(uri string) string {
	var all []string
	for n, line := range strings.Split(f.texts[uri], "\n") {
		for word, severity := range map[string]int{"BAD": 1, "ODD": 2, "HINT": 4} {
			if i := strings.Index(line, word); i >= 0 {
				all = append(all, fmt.Sprintf(`{"range":{"start":{"line":%d,"character":%d},"end":{"line":%d,"character":%d}},"severity":%d,"code":"C1","message":"%s is here"}`, n, i, n, i+3, severity, word))
			}
		}
	}
	return "[" + strings.Join(all, ",") + "]"
}

// rename replaces old by the new name in all known files.
func (f fake) rename(name string) string {
	var files []string
	for uri, text := range f.texts {
		var edits []string
		for n, line := range strings.Split(text, "\n") {
			if i := strings.Index(line, "old"); i >= 0 {
				edits = append(edits, fmt.Sprintf(`{"range":{"start":{"line":%d,"character":%d},"end":{"line":%d,"character":%d}},"newText":%q}`, n, i, n, i+3, name))
			}
		}
		files = append(files, fmt.Sprintf(`{"textDocument":{"uri":%q,"version":null},"edits":[%s]}`, uri, strings.Join(edits, ",")))
	}
	if f.does("deletes") {
		files = append(files, `{"kind":"delete","uri":"file:///etc/passwd"}`)
	}
	return `{"documentChanges":[` + strings.Join(files, ",") + `]}`
}

func (f fake) reply(m message, result string) {
	f.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result))
}

func (f fake) write(text string) { fmt.Printf("Content-Length: %d\r\n\r\n%s", len(text), text) }

func (f fake) read() (m message, err error) {
	size := 0
	for {
		line, err := f.in.ReadString('\n')
		if err != nil {
			return m, err
		}
		if line = strings.TrimSpace(line); line == "" {
			break
		}
		if n, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			size, _ = strconv.Atoi(n)
		}
	}
	raw := make([]byte, size)
	if _, err := io.ReadFull(f.in, raw); err != nil {
		return m, err
	}
	return m, json.Unmarshal(raw, &m)
}
