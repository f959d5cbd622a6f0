package acp

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"adze/internal/files/attachments"
	"adze/internal/text/jsontext"
	"adze/tool"
)

// block is one of a prompt. The SDK takes a kind that it does not know for another one that has the
// same fields.
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

// given makes of a prompt's blocks what a turn begins with. What cannot be taken is refused: a
// picture that is left out in silence would be missed.
func given(blocks []json.RawMessage) (p Prompt, err error) {
	var text words
	for n, raw := range blocks {
		var b block
		var a tool.Attachment
		wrong := func(why string) error {
			return refuse(codeInvalidParams, fmt.Sprintf("block %d of the prompt %s", n+1, why))
		}
		if err := json.Unmarshal(raw, &b); err != nil {
			return p, wrong("cannot be read: " + jsontext.Problem(err))
		}
		switch r := b.Resource; {
		case b.Type == "text":
			text.add(b.Text)
		case b.Type == "resource_link":
			text.set(linked(b.Uri, b.Name), " ")
		case b.Type == "resource" && r.Text != nil:
			text.set(embedded(r.Uri, *r.Text), " ")
		case b.Type == "resource" && r.Blob != nil:
			a, err = attached(nameOf(r.Uri), r.MimeType, *r.Blob)
		case b.Type == "image":
			a, err = attached(fmt.Sprintf("picture %d", len(p.Attachments)+1), b.MimeType, b.Data)
		case b.Type == "audio":
			err = refuse(codeInvalidParams, "audio is not taken; write what it says, or attach a text")
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
	p.Text = text.text
	if strings.TrimSpace(p.Text) == "" && len(p.Attachments) == 0 {
		return p, refuse(codeInvalidParams, "the prompt says nothing")
	}
	return p, nil
}

// words are the texts of a prompt, in their order, with what stands among them.
type words struct {
	text   string
	linked bool // what was added last is no text of the user
}

// add adds what the user wrote. Behind a link it begins with a space, unless it goes on in the
// sentence with a sign.
func (w *words) add(text string) {
	if w.linked && text != "" {
		if first, _ := utf8.DecodeRuneInString(text); !unicode.IsSpace(first) && !unicode.Is(unicode.Po, first) && !unicode.Is(unicode.Pe, first) {
			w.text += " "
		}
	}
	w.text, w.linked = w.text+text, false
}

// set adds a link or what was sent along, apart from the word before it.
func (w *words) set(text, space string) {
	if last, _ := utf8.DecodeLastRuneInString(w.text); w.text != "" && !unicode.IsSpace(last) && !unicode.Is(unicode.Ps, last) && last != '"' && last != '`' && last != '@' {
		w.text += space
	}
	w.text, w.linked = w.text+text, true
}

// linked is a file that the user names: as they would write it themselves.
func linked(uri, name string) string {
	if path, ok := filePath(uri); ok {
		return path
	}
	if name == "" || name == uri {
		return uri
	}
	return fmt.Sprintf("[%s](%s)", name, uri)
}

// embedded is a text that the editor sends along, which may be newer than its file.
func embedded(uri, text string) string {
	name := uri
	if path, ok := filePath(uri); ok {
		name = path
	}
	return name + "\n\n" + attachments.Fenced(name+" (as it is in the editor)", text)
}

// filePath is the path of a file's address.
func filePath(uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" {
		return "", false
	}
	return u.Path, true
}

func nameOf(uri string) string {
	if at := strings.LastIndexByte(uri, '/'); at >= 0 && at < len(uri)-1 {
		return uri[at+1:]
	}
	return uri
}

// attached is a picture or a document.
func attached(name, media, data string) (tool.Attachment, error) {
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return tool.Attachment{}, refuse(codeInvalidParams, fmt.Sprintf("%s is not base64: %v", name, err))
	}
	a, is := attachments.File(name, raw)
	if !is {
		return a, refuse(codeInvalidParams, fmt.Sprintf("%s (%s) is neither a picture nor a PDF", name, media))
	}
	return a, nil
}
