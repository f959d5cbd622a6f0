package hostio

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"adze/internal/sandbox/proc"
)

// pictureAge is how long clipboard pictures are kept; queued messages are sent before that.
const pictureAge = 24 * time.Hour

// Clipboard reads pictures from the clipboard by system programs.
type Clipboard struct {
	dir       string // folder for pictures
	system    string // as in runtime.GOOS
	workspace string // never searched for programs
	getenv    func(string) string
}

// NewClipboard stores pictures in the state folder. It runs no program from the workspace.
func NewClipboard(state, workspace string, getenv func(string) string) Clipboard {
	return Clipboard{filepath.Join(state, "pictures"), runtime.GOOS, workspace, getenv}
}

// reader is a program that writes the clipboard's picture to its output.
type reader struct {
	args   []string
	decode func(string) ([]byte, error) // nil if the output is the picture
}

// readers returns the system's programs, best first.
func (c Clipboard) readers() []reader {
	if c.system == "darwin" {
		return []reader{{args: []string{"osascript", "-e", "get the clipboard as «class PNGf»"}, decode: appleData}}
	}
	if c.system == "windows" {
		return []reader{{args: []string{"powershell.exe", "-NoLogo", "-NoProfile", "-NonInteractive", "-STA", "-Command", windowsPicture}, decode: base64.StdEncoding.DecodeString}}
	}
	var all []reader
	if c.getenv("WAYLAND_DISPLAY") != "" {
		all = append(all, reader{args: []string{"wl-paste", "--no-newline", "--type", "image/png"}})
	}
	if c.getenv("DISPLAY") != "" {
		all = append(all, reader{args: []string{"xclip", "-selection", "clipboard", "-target", "image/png", "-out"}})
	}
	return all
}

// windowsPicture prints the clipboard's picture in base64, because PowerShell pipes change bytes.
const windowsPicture = "Add-Type -AssemblyName System.Windows.Forms, System.Drawing; " +
	"$p = [Windows.Forms.Clipboard]::GetImage(); if ($null -eq $p) { exit 1 }; " +
	"$m = New-Object IO.MemoryStream; $p.Save($m, [Drawing.Imaging.ImageFormat]::Png); " +
	"[Console]::Out.Write([Convert]::ToBase64String($m.ToArray()))"

// Picture stores the clipboard's picture in a file and returns its path.
func (c Clipboard) Picture(ctx context.Context) (string, error) {
	all := c.readers()
	if len(all) == 0 {
		return "", errors.New("there is no desktop here whose clipboard could be read (neither WAYLAND_DISPLAY nor DISPLAY is set); name the file instead")
	}
	var missing []string
	for _, r := range all {
		path, env, err := proc.Helper(r.args[0], c.workspace)
		if err != nil {
			missing = append(missing, r.args[0])
			continue
		}
		cmd := exec.CommandContext(ctx, path, r.args[1:]...)
		cmd.Env, cmd.WaitDelay = env, time.Second
		out, err := cmd.Output()
		if r.decode != nil {
			out, _ = r.decode(strings.TrimSpace(string(out))) // the signature is checked below
		}
		if ctx.Err() != nil {
			return "", fmt.Errorf("%s did not answer: %w", r.args[0], ctx.Err())
		}
		if err != nil || !bytes.HasPrefix(out, []byte("\x89PNG\r\n\x1a\n")) {
			return "", errors.New("there is no picture on the clipboard")
		}
		return c.keep(out)
	}
	return "", fmt.Errorf("the clipboard is read by %s, which is not installed", strings.Join(missing, " or "))
}

// Copier returns a function that copies text, or nil where the terminal itself takes it. tmux takes
// text from its own command (since 3.2), but from programs only if set-clipboard is on. No program
// from the workspace runs.
func Copier(getenv func(string) string, workspace string) func(text string) error {
	if getenv("TMUX") == "" {
		return nil
	}
	return func(text string) error {
		path, env, err := proc.Helper("tmux", cmp.Or(workspace, "/"))
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second) // it runs on this machine
		defer cancel()
		cmd := exec.CommandContext(ctx, path, "load-buffer", "-w", "-")
		cmd.Env, cmd.Stdin, cmd.WaitDelay = env, strings.NewReader(text), time.Second
		return cmd.Run()
	}
}

// keep writes a picture and removes old ones.
func (c Clipboard) keep(png []byte) (string, error) {
	if len(png) > MaxPicture {
		return "", fmt.Errorf("the picture on the clipboard has %d bytes; %d is the limit", len(png), MaxPicture)
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return "", err
	}
	entries, _ := os.ReadDir(c.dir) // removing old pictures is optional
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > pictureAge {
			_ = os.Remove(filepath.Join(c.dir, e.Name()))
		}
	}
	f, err := os.CreateTemp(c.dir, "clipboard-*.png")
	if err != nil {
		return "", err
	}
	_, err = f.Write(png)
	return f.Name(), errors.Join(err, f.Close())
}

// appleData decodes osascript's output «data PNGf89504E…».
func appleData(out string) ([]byte, error) {
	return hex.DecodeString(strings.TrimSuffix(strings.TrimPrefix(out, "«data PNGf"), "»"))
}
