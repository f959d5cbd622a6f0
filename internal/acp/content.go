package acp

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"adze/internal/enclosed"
	"adze/tool"
)

// given makes of a prompt's blocks what a turn begins with. What cannot be taken is refused: a
// picture that is left out in silence would be missed.
func given(blocks []sdk.ContentBlock) (p Prompt, err error) {
	var text strings.Builder
	for n, b := range blocks {
		switch {
		case b.Text != nil:
			text.WriteString(b.Text.Text)
		case b.ResourceLink != nil:
			text.WriteString(linked(b.ResourceLink.Uri, b.ResourceLink.Name))
		case b.Resource != nil && b.Resource.Resource.TextResourceContents != nil:
			r := b.Resource.Resource.TextResourceContents
			text.WriteString(embedded(r.Uri, r.Text))
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
	p.Text = text.String()
	if strings.TrimSpace(p.Text) == "" && len(p.Attachments) == 0 {
		return p, refuse(codeInvalidParams, "the prompt says nothing")
	}
	return p, nil
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
	return name + "\n\n" + enclosed.Fenced(name+" (as it is in the editor)", text)
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
		return tool.Attachment{}, refuse(codeInvalidParams, fmt.Sprintf("%s is no base64: %v", name, err))
	}
	a, is := enclosed.File(name, raw)
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
