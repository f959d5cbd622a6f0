package acp

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	sdk "github.com/coder/acp-go-sdk"

	"adze/internal/files/attachments"
	"adze/internal/text/jsontext"
	"adze/tool"
)

// given makes of a prompt's blocks what a turn begins with. What cannot be taken is refused: a
// picture that is left out in silence would be missed.
func given(blocks []sdk.ContentBlock) (p Prompt, err error) {
	var text words
	for n, b := range blocks {
		switch {
		case b.Text != nil:
			text.add(b.Text.Text)
		case b.ResourceLink != nil:
			text.set(linked(b.ResourceLink.Uri, b.ResourceLink.Name), " ")
		case b.Resource != nil && b.Resource.Resource.TextResourceContents != nil:
			r := b.Resource.Resource.TextResourceContents
			text.set(embedded(r.Uri, r.Text), " ")
		case b.Resource != nil && b.Resource.Resource.BlobResourceContents != nil:
			r := b.Resource.Resource.BlobResourceContents
			a, err := attached(nameOf(r.Uri), value(r.MimeType), r.Blob)
			if err != nil {
				return p, err
			}
			p.Attachments = append(p.Attachments, a)
		case b.Image != nil:
			a, err := attached(fmt.Sprintf("picture %d", len(p.Attachments)+1), b.Image.MimeType, b.Image.Data)
			if err != nil {
				return p, err
			}
			p.Attachments = append(p.Attachments, a)
		case b.Audio != nil:
			return p, refuse(codeInvalidParams, "audio is not taken; write what it says, or attach a text")
		default:
			return p, refuse(codeInvalidParams, fmt.Sprintf("block %d of the prompt is of a kind that is not known here", n+1))
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

// readable refuses a prompt with blocks of kinds that are not known here, by their names: the SDK
// takes one for another that has the same fields.
func readable(raw json.RawMessage) error {
	var p struct {
		Prompt []json.RawMessage `json:"prompt"`
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return refuse(codeInvalidParams, "the prompt cannot be read: "+jsontext.Problem(err))
	}
	for n, b := range p.Prompt {
		if why := unreadable(b); why != "" {
			return refuse(codeInvalidParams, fmt.Sprintf("block %d of the prompt %s", n+1, why))
		}
	}
	return nil
}

// unreadable says why a block cannot be read; if empty, it can.
func unreadable(block json.RawMessage) string {
	var kind struct {
		Type *string `json:"type"`
	}
	if err := json.Unmarshal(block, &kind); err != nil {
		return "cannot be read: " + jsontext.Problem(err)
	}
	var into any
	switch {
	case kind.Type == nil:
		return "has no type"
	case *kind.Type == "text":
		into = new(sdk.ContentBlockText)
	case *kind.Type == "image":
		into = new(sdk.ContentBlockImage)
	case *kind.Type == "audio":
		into = new(sdk.ContentBlockAudio)
	case *kind.Type == "resource_link":
		into = new(sdk.ContentBlockResourceLink)
	case *kind.Type == "resource":
		into = new(sdk.ContentBlockResource)
	default:
		return fmt.Sprintf("is of the type %.40q, which is not known here; there are: text, image, audio, resource_link, resource", *kind.Type)
	}
	if err := json.Unmarshal(block, into); err != nil {
		return fmt.Sprintf("is no %s: %s", *kind.Type, jsontext.Problem(err))
	}
	return ""
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

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
