package acp

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sourcegraph/jsonrpc2"

	"adze/internal/files/attachments"
	"adze/internal/text/jsontext"
	"adze/tool"
)

// block is a part of a prompt. The SDK would decode an unknown kind as another one with the same
// fields.
type block struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Data     string `json:"data"`
	MimeType string `json:"mimeType"`
	Uri      string `json:"uri"`
	Name     string `json:"name"`
	Resource struct {
		Uri      string  `json:"uri"`
		MimeType string  `json:"mimeType"`
		Text     *string `json:"text"`
		Blob     *string `json:"blob"`
	} `json:"resource"`
}

// given converts a prompt's blocks. It refuses unsupported ones: an image omitted silently would be
// missed.
func given(blocks []json.RawMessage) (p Prompt, err error) {
	for n, raw := range blocks {
		var b block
		var a tool.Attachment
		wrong := func(why string) error {
			return refuse(jsonrpc2.CodeInvalidParams, fmt.Sprintf("block %d of the prompt %s", n+1, why))
		}
		if err := json.Unmarshal(raw, &b); err != nil {
			return p, wrong("cannot be read: " + jsontext.Problem(err))
		}
		switch r := b.Resource; {
		case b.Type == "text":
			p.Text = joined(p.Text, b.Text)
		case b.Type == "resource_link":
			p.Text = joined(p.Text, linked(b.Uri, b.Name))
		case b.Type == "resource" && r.Text != nil:
			p.Text = joined(p.Text, embedded(r.Uri, *r.Text))
		case b.Type == "resource" && r.Blob != nil:
			a, err = attached(nameOf(r.Uri), r.MimeType, *r.Blob)
		case b.Type == "image":
			a, err = attached(fmt.Sprintf("picture %d", len(p.Attachments)+1), b.MimeType, b.Data)
		case b.Type == "audio":
			err = refuse(jsonrpc2.CodeInvalidParams, "audio is not taken; write what it says, or attach a text")
		case b.Type == "":
			err = wrong("has no type")
		case b.Type == "resource":
			err = wrong("is a resource that holds nothing")
		default:
			err = wrong(fmt.Sprintf("is of the type %.40q, which is not known here; there are: text, image, audio, resource_link, resource", b.Type))
		}
		if err != nil {
			return p, err
		}
		if a.MediaType != "" {
			p.Attachments = append(p.Attachments, a)
		}
	}
	if strings.TrimSpace(p.Text) == "" && len(p.Attachments) == 0 {
		return p, refuse(jsonrpc2.CodeInvalidParams, "the prompt says nothing")
	}
	return p, nil
}

// joined appends a text or link to a prompt, with a space unless next begins with punctuation.
func joined(text, next string) string {
	last, _ := utf8.DecodeLastRuneInString(text)
	first, _ := utf8.DecodeRuneInString(next)
	opens := unicode.In(last, unicode.White_Space, unicode.Ps) || strings.ContainsRune("\"`@", last)
	closes := unicode.In(first, unicode.White_Space, unicode.Po, unicode.Pe) && first != '/'
	if text == "" || next == "" || opens || closes {
		return text + next
	}
	return text + " " + next
}

// linked formats a file reference as a user would type it.
func linked(uri, name string) string {
	if path, ok := filePath(uri); ok {
		return path
	}
	if name == "" || name == uri {
		return uri
	}
	return fmt.Sprintf("[%s](%s)", name, uri)
}

// embedded formats a text from the editor, which may be newer than its file.
func embedded(uri, text string) string {
	name := uri
	if path, ok := filePath(uri); ok {
		name = path
	}
	return name + "\n\n" + attachments.Fenced(name+" (as it is in the editor)", text)
}

// filePath returns the path in a file URI, with its lines.
func filePath(uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" {
		return "", false
	}
	return u.Path + linesOf(u.Fragment), true
}

// linesOf converts a fragment to a line suffix for a path: L10:20 (Zed), L10-L20, 10,5-20,1 with
// columns (VS Code). It returns "" for others.
func linesOf(fragment string) (lines string) {
	mark := ":"
	for at := range strings.SplitSeq(strings.ReplaceAll(fragment, "-", ":"), ":") {
		at, _, _ = strings.Cut(strings.TrimPrefix(at, "L"), ",")
		if _, err := strconv.ParseUint(at, 10, 32); err != nil {
			break
		}
		lines, mark = lines+mark+at, "-"
	}
	return lines
}

func nameOf(uri string) string {
	if at := strings.LastIndexByte(uri, '/'); at >= 0 && at < len(uri)-1 {
		return uri[at+1:]
	}
	return uri
}

func attached(name, media, data string) (tool.Attachment, error) {
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return tool.Attachment{}, refuse(jsonrpc2.CodeInvalidParams, fmt.Sprintf("%s is not base64: %v", name, err))
	}
	a, is := attachments.File(name, raw)
	if !is {
		return a, refuse(jsonrpc2.CodeInvalidParams, fmt.Sprintf("%s (%s) is neither a picture nor a PDF", name, media))
	}
	return a, nil
}
