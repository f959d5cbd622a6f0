package workspace

import (
	"io/fs"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// spelled converts a name to the system's separators; dir is the workspace. It refuses names that
// Windows would not open as written: devices, streams, names with an end that Windows drops, and
// names relative to a drive's current folder.
func spelled(name, dir string) (string, error) {
	if name == "" {
		return name, nil
	}
	plain := withoutPrefix(filepath.FromSlash(name))
	if drive, rest, ok := unixDrive(plain); ok {
		plain = drive + `:\` + rest
	}
	volume := filepath.VolumeName(plain)
	rest := plain[len(volume):]
	switch {
	case strings.HasPrefix(volume, `\\.`), strings.HasPrefix(volume, `\\?`), strings.HasPrefix(volume, `\??`):
		return "", fail(InvalidInput, "%s names a device; give the path of a file, such as %s", name, filepath.Join(dir, "file.txt"))
	case volume != "" && !strings.HasPrefix(volume, `\\`) && !strings.HasPrefix(rest, `\`):
		return "", fail(InvalidInput, `%s is relative to the current folder of a drive; give the whole path, such as %s\%s`, name, volume, rest)
	case volume == "" && strings.HasPrefix(rest, `\`):
		plain = filepath.VolumeName(dir) + rest
	}
	for _, part := range parts(rest) {
		if err := plainPart(name, part); err != nil {
			return "", err
		}
	}
	return plain, nil
}

func withoutPrefix(path string) string {
	if rest, ok := strings.CutPrefix(path, `\\?\UNC\`); ok {
		return `\\` + rest
	}
	if rest, ok := strings.CutPrefix(path, `\\?\`); ok && len(rest) > 1 && rest[1] == ':' {
		return rest
	}
	return path
}

// unixDrive reads \c\x, which is C:\x in Git's bash.
func unixDrive(path string) (drive, rest string, ok bool) {
	if len(path) < 2 || path[0] != '\\' || !letter(path[1]) || len(path) > 2 && path[2] != '\\' {
		return "", "", false
	}
	return strings.ToUpper(path[1:2]), strings.TrimPrefix(path[2:], `\`), true
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// plainPart refuses a path element with a special meaning on Windows.
func plainPart(name, part string) error {
	switch {
	case part == "" || part == "." || part == "..":
		return nil
	case strings.Contains(part, ":"):
		return fail(InvalidInput, "%s names a stream of a file (the part after the colon); give the name of the file", name)
	case strings.ContainsAny(part, `<>"|?*`) || strings.IndexFunc(part, func(r rune) bool { return r < ' ' }) >= 0:
		return fail(InvalidInput, `%s has a character that no file name has on Windows, one of < > " | ? * or a control character; give the plain name`, name)
	case strings.HasSuffix(part, ".") || strings.HasSuffix(part, " "):
		return fail(InvalidInput, "%s: Windows drops the dots and blanks at the end of %q; give the name without them", name, part)
	case !filepath.IsLocal(part):
		return fail(InvalidInput, "%s: %q is a device on Windows and no file; give another name", name, part)
	}
	return nil
}

// top splits a path into its starting folder, given the current folder at, and the rest.
func top(path, at string) (folder, rest string) {
	path = withoutPrefix(filepath.FromSlash(path))
	volume := filepath.VolumeName(path)
	rest = path[len(volume):]
	switch {
	case volume != "":
		return volume + `\`, rest
	case strings.HasPrefix(rest, `\`):
		return filepath.VolumeName(at) + `\`, rest
	}
	return at, rest
}

// machine is the absolute path opened by FS.OpenDir: drives and shares have no common folder.
const machine = ""

func parts(path string) []string { return strings.Split(filepath.FromSlash(path), `\`) }

// split returns the non-empty elements in a path; an absolute one starts with its volume.
func split(path string) []string {
	volume := filepath.VolumeName(path)
	names := strings.FieldsFunc(path[len(volume):], func(c rune) bool { return c == '/' || c == '\\' })
	if volume != "" {
		names = append([]string{volume + `\`}, names...)
	}
	return names
}

// cutFolder removes a leading folder from a path, ignoring case.
func cutFolder(path, folder string) (rest string, inside bool) {
	folder = strings.TrimSuffix(folder, `\`) + `\`
	if len(path) < len(folder) || !strings.EqualFold(path[:len(folder)], folder) {
		return path, false
	}
	return path[len(folder):], true
}

func sameName(a, b string) bool { return strings.EqualFold(a, b) }

// leads reports whether mode is a link, or a junction, which has an irregular mode.
func leads(mode fs.FileMode) bool { return mode&(fs.ModeSymlink|fs.ModeIrregular) != 0 }

// entryName returns the last path element as stored in its folder: in its original case and as the
// long name instead of a short one (8.3). So a file has only one path.
func entryName(path string) string {
	base := filepath.Base(path)
	long, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return base
	}
	var data windows.Win32finddata
	found, err := windows.FindFirstFile(long, &data)
	if err != nil {
		return base // accessible but not listed
	}
	_ = windows.FindClose(found)
	if name := windows.UTF16ToString(data.FileName[:]); name != "" && name != "." {
		return name
	}
	return base
}
