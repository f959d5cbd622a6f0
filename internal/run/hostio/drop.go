package hostio

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/files/attachments"
	"adze/session/api"
)

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
