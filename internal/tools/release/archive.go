package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"os"
	"path"
	"testing/fstest"
	"time"
)

// A File is one file in an archive.
type File struct {
	Name string // with slashes
	Mode os.FileMode
	Data []byte
}

// archive packs files below one folder: zip for Windows, gzipped tar for the others. Its bytes
// depend only on the files and the time.
func archive(t Target, folder string, files []File, at time.Time) ([]byte, error) {
	tree := fstest.MapFS{}
	for _, f := range files {
		name := path.Join(folder, f.Name)
		tree[name] = &fstest.MapFile{Data: f.Data, Mode: f.Mode, ModTime: at}
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			tree[dir] = &fstest.MapFile{Mode: fs.ModeDir | 0o755, ModTime: at}
		}
	}
	var out bytes.Buffer
	if t.System == "windows" {
		w := zip.NewWriter(&out)
		err := errors.Join(w.AddFS(tree), w.Close())
		return out.Bytes(), err
	}
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(z)
	err = errors.Join(w.AddFS(tree), w.Close(), z.Close())
	return out.Bytes(), err
}
