package hostio

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/files/attachments"
	"adze/internal/files/imagescale"
	"adze/internal/text/usage"
	"adze/session/api"
	"adze/tool"
)

// Attachments reads the files from --attach.
func Attachments(paths []string) ([]tool.Attachment, error) {
	var out []tool.Attachment
	for _, path := range paths {
		data, err := attachmentBytes(path)
		if err != nil {
			return nil, err
		}
		a, is := attachments.File(filepath.Base(path), data)
		if !is {
			return nil, usage.Mistake("name text files in the prompt instead; the model reads them itself", "--attach %s: %s is neither an image nor a PDF", path, http.DetectContentType(data))
		}
		a, err = Bounded(a)
		if err != nil {
			return nil, usage.Mistake("attach a smaller file", "--attach %s: %v", path, err)
		}
		out = append(out, a)
	}
	return out, nil
}

// Bounded returns an attachment for storage: pictures are scaled to the size models use, other
// files stay unchanged.
func Bounded(a tool.Attachment) (tool.Attachment, error) {
	picture := strings.HasPrefix(a.MediaType, "image/")
	if picture {
		p, err := imagescale.Fit(context.Background(), a.Data, imagescale.Limit{Side: pictureSide, Bytes: MaxAttachment})
		if errors.Is(err, imagescale.ErrLarge) {
			return a, err
		}
		if err == nil {
			a.Data, a.MediaType = p.Data, p.Media
		}
	}
	if len(a.Data) > MaxAttachment {
		return a, fmt.Errorf("only up to %d MiB", MaxAttachment>>20)
	}
	return a, nil
}

func attachmentBytes(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, usage.Mistake("check the path", "--attach: %v", err)
	}
	if !info.Mode().IsRegular() || info.Size() > MaxPicture {
		return nil, usage.Mistake("attach a smaller file", "--attach %s: only regular files up to %d MiB", path, MaxPicture>>20)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, usage.Mistake("check the file's permissions", "--attach: %v", err)
	}
	return data, nil
}

// Limits for an attachment in bytes, equal to those of read: a picture is scaled to the size models
// use.
const (
	MaxAttachment = 5 << 20
	MaxPicture    = 64 << 20
	pictureSide   = 3072
)

// DropIn recognizes the path that a terminal pastes for a dropped file: quoted, with backslashes,
// or as a file URL.
func DropIn(dir string) func(text string) (api.Dropped, bool) {
	return func(text string) (api.Dropped, bool) {
		path, ok := droppedPath(text)
		if !ok {
			return api.Dropped{}, false
		}
		info, err := os.Stat(path)
		if err != nil {
			return api.Dropped{}, false
		}
		d := api.Dropped{Path: path}
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
			d.Path = rel
		}
		if info.Mode().IsRegular() && info.Size() <= MaxPicture && attachable(path) {
			d.Attach = path
		}
		return d, true
	}
}

func droppedPath(text string) (string, bool) {
	text = strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(text, "file://"); ok {
		path, err := url.PathUnescape(strings.TrimPrefix(rest, "localhost"))
		if len(path) > 1 && filepath.VolumeName(path[1:]) != "" { // /C:/src
			path = filepath.FromSlash(path[1:])
		}
		return path, err == nil && filepath.IsAbs(path)
	}
	for _, quote := range []string{"'", `"`} {
		if inner, ok := strings.CutPrefix(text, quote); ok && strings.HasSuffix(inner, quote) {
			text = strings.TrimSuffix(inner, quote)
			return text, filepath.IsAbs(text)
		}
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text):
			i++
		case text[i] == ' ':
			return "", false // a terminal would have quoted a path with spaces
		}
		b.WriteByte(text[i])
	}
	return b.String(), filepath.IsAbs(b.String())
}

// attachable checks the first bytes, as the attachment code does.
func attachable(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 512)
	n, _ := f.Read(head) // an empty file is not attachable
	_, is := attachments.File("", head[:n])
	return is
}
