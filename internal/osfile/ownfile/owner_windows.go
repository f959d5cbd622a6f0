package ownfile

import (
	"fmt"
	"io/fs"
	"unsafe"

	"golang.org/x/sys/windows"
)

// noTerminal does not exist here.
const noTerminal = 0

// Access rights that allow replacing or changing a file or a folder's contents, and those that
// allow reading.
const (
	mayWrite = windows.GENERIC_ALL | windows.GENERIC_WRITE | windows.FILE_WRITE_DATA | windows.FILE_APPEND_DATA | windows.DELETE |
		windows.WRITE_DAC | windows.WRITE_OWNER | fileDeleteChild
	mayRead = windows.GENERIC_ALL | windows.GENERIC_READ | windows.FILE_READ_DATA

	fileDeleteChild = 0x40
)

func (r Rule) entry(path string, info fs.FileInfo) error {
	mask := windows.ACCESS_MASK(mayWrite)
	if info.IsDir() {
		mask &^= windows.FILE_WRITE_DATA | windows.FILE_APPEND_DATA // others may add files, as in a folder with the sticky bit
	}
	who, err := r.stranger(path, mask)
	if err != nil || who == "" {
		return err
	}
	return &Error{path, fmt.Sprintf("can be changed by %s, who could have programs run in your name", who),
		fmt.Sprintf(`icacls "%s" /inheritance:r /grant:r "%%USERNAME%%:F"`, path)}
}

func (r Rule) secret(path string, _ fs.FileInfo) error {
	who, err := r.stranger(path, mayRead)
	if err != nil || who == "" {
		return err
	}
	return &Error{path, fmt.Sprintf("can be read by %s", who), fmt.Sprintf(`icacls "%s" /inheritance:r /grant:r "%%USERNAME%%:F"`, path)}
}

func (r Rule) owned(path string, _ fs.FileInfo) error {
	_, err := r.stranger(path, 0)
	return err
}

// stranger returns an untrusted account to which a file's access list grants one of the rights. The
// error is about the owner or an unreadable list.
func (r Rule) stranger(path string, rights windows.ACCESS_MASK) (who string, err error) {
	descriptor, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return "", fmt.Errorf("look who can change %s: %w", path, err)
	}
	believed, err := r.believed()
	if err != nil {
		return "", err
	}
	owner, _, err := descriptor.Owner()
	if err != nil || owner == nil || !among(believed, owner) {
		return "", &Error{path, fmt.Sprintf("belongs to %s, who could have programs run in your name", name(owner)),
			fmt.Sprintf(`if its content is right, icacls "%s" /setowner "%%USERNAME%%"; else remove it`, path)}
	}
	list, _, err := descriptor.DACL()
	if err != nil || list == nil { // without a list everybody has full access
		return "everybody", nil
	}
	for i := range uint32(list.AceCount) {
		var entry *windows.ACCESS_ALLOWED_ACE
		if windows.GetAce(list, i, &entry) != nil || entry.Header.AceType != windows.ACCESS_ALLOWED_ACE_TYPE ||
			entry.Header.AceFlags&windows.INHERIT_ONLY_ACE != 0 || entry.Mask&rights == 0 {
			continue
		}
		if to := (*windows.SID)(unsafe.Pointer(&entry.SidStart)); !among(believed, to) {
			return name(to), nil
		}
	}
	return "", nil
}

// believed returns the trusted owners: the user and this machine's administrators.
func (r Rule) believed() (all []*windows.SID, err error) {
	for _, kind := range []windows.WELL_KNOWN_SID_TYPE{windows.WinBuiltinAdministratorsSid, windows.WinLocalSystemSid, windows.WinCreatorOwnerSid,
		windows.WinCreatorOwnerRightsSid} {
		if sid, err := windows.CreateWellKnownSid(kind); err == nil {
			all = append(all, sid)
		}
	}
	if sid, err := windows.StringToSid(trustedInstaller); err == nil {
		all = append(all, sid)
	}
	if r.Owner == 0 { // a file from the machine's owner
		return all, nil
	}
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, fmt.Errorf("look who runs this: %w", err)
	}
	return append(all, user.User.Sid), nil
}

// trustedInstaller owns the files installed by Windows itself.
const trustedInstaller = "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464"

func among(all []*windows.SID, sid *windows.SID) bool {
	for _, one := range all {
		if one.Equals(sid) {
			return true
		}
	}
	return false
}

func name(sid *windows.SID) string {
	if sid == nil {
		return "nobody"
	}
	account, domain, _, err := sid.LookupAccount("")
	if err != nil {
		return sid.String()
	}
	return domain + `\` + account
}
