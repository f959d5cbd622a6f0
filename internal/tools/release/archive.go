package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
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
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	for i, f := range files {
		if i > 0 && f.Name == files[i-1].Name {
			return nil, fmt.Errorf("two files are called %s", f.Name)
		}
	}
	if t.System == "windows" {
		return zipped(folder, files, at)
	}
	return tarred(folder, files, at)
}

func zipped(folder string, files []File, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range files {
		head := &zip.FileHeader{Name: path.Join(folder, f.Name), Method: zip.Deflate, Modified: at}
		head.SetMode(f.Mode)
		to, err := w.CreateHeader(head)
		if err != nil {
			return nil, err
		}
		if _, err := to.Write(f.Data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

func tarred(folder string, files []File, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(z)
	for _, f := range files {
		head := &tar.Header{Name: path.Join(folder, f.Name), Mode: int64(f.Mode.Perm()), Size: int64(len(f.Data)), ModTime: at, Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
		if err := w.WriteHeader(head); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.Data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	err = z.Close()
	return out.Bytes(), err
}
