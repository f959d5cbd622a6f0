package sandbox

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"

	"adze/internal/osfile/delicate"
)

// A restricted token has each write judged twice: by the user's rights, and by those of the ids
// that the token is restricted to. One of them is made for the workspace alone, and the access
// lists of the workspace and of the folder for temporary files name it.

// Flags of CreateRestrictedToken.
const (
	disableMaxPrivilege = 1
	luaToken            = 4
	writeRestricted     = 8
)

// rootID is the id of a folder: the same for each run, so that its access list is written once.
func rootID(folder string) (*windows.SID, error) {
	sum := sha256.Sum256([]byte("adze " + strings.ToLower(filepath.Clean(folder))))
	n := func(i int) uint32 { return binary.LittleEndian.Uint32(sum[4*i:]) }
	return windows.StringToSid(fmt.Sprintf("S-1-5-21-%d-%d-%d-%d", n(0), n(1), n(2), n(3)|1<<20))
}

// restrictedToken is a token of this user that can write only where the id may, and where every
// user may.
func restrictedToken(root *windows.SID) (windows.Token, error) {
	var own windows.Token
	access := uint32(windows.TOKEN_DUPLICATE | windows.TOKEN_QUERY | windows.TOKEN_ASSIGN_PRIMARY | windows.TOKEN_ADJUST_DEFAULT)
	if err := windows.OpenProcessToken(windows.CurrentProcess(), access, &own); err != nil {
		return 0, fmt.Errorf("the token of this process: %w", err)
	}
	defer own.Close()
	everyone, err := windows.CreateWellKnownSid(windows.WinWorldSid)
	if err != nil {
		return 0, err
	}
	session, err := sessionID(own)
	if err != nil {
		return 0, err
	}
	ids := []windows.SIDAndAttributes{{Sid: root}, {Sid: session}, {Sid: everyone}}
	var token windows.Token
	create := windows.NewLazySystemDLL("advapi32.dll").NewProc("CreateRestrictedToken")
	if err := create.Find(); err != nil {
		return 0, err
	}
	if ok, _, err := create.Call(uintptr(own), disableMaxPrivilege|luaToken|writeRestricted, 0, 0, 0, 0,
		uintptr(len(ids)), uintptr(unsafe.Pointer(&ids[0])), uintptr(unsafe.Pointer(&token))); ok == 0 {
		return 0, fmt.Errorf("make a restricted token: %w", err)
	}
	if err := defaultAccess(token, root, session); err != nil {
		_ = token.Close()
		return 0, err
	}
	return token, nil
}

// sessionID is the id of the user's logon, which desktops and consoles are open to.
func sessionID(token windows.Token) (*windows.SID, error) {
	groups, err := token.GetTokenGroups()
	if err != nil {
		return nil, fmt.Errorf("the groups of this user: %w", err)
	}
	for _, g := range groups.AllGroups() {
		if g.Attributes&windows.SE_GROUP_LOGON_ID == windows.SE_GROUP_LOGON_ID {
			return g.Sid, nil
		}
	}
	return nil, errors.New("this user has no id of a logon")
}

// defaultAccess lets the programs of a token open what they make without an access list, such as
// pipes.
func defaultAccess(token windows.Token, ids ...*windows.SID) error {
	user, err := token.GetTokenUser()
	if err != nil {
		return err
	}
	var entries []windows.EXPLICIT_ACCESS
	for _, id := range append(ids, user.User.Sid) {
		entries = append(entries, lookAt(id, windows.GRANT_ACCESS, windows.GENERIC_ALL, windows.NO_INHERITANCE))
	}
	list, err := windows.ACLFromEntries(entries, nil)
	if err != nil {
		return err
	}
	info := struct{ List *windows.ACL }{list}
	return windows.SetTokenInformation(token, windows.TokenDefaultDacl, (*byte)(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
}

func lookAt(id *windows.SID, mode windows.ACCESS_MODE, rights windows.ACCESS_MASK, inherit uint32) windows.EXPLICIT_ACCESS {
	return windows.EXPLICIT_ACCESS{AccessPermissions: rights, AccessMode: mode, Inheritance: inherit,
		Trustee: windows.TRUSTEE{TrusteeForm: windows.TRUSTEE_IS_SID, TrusteeType: windows.TRUSTEE_IS_UNKNOWN, TrusteeValue: windows.TrusteeValueFromSID(id)}}
}

// Rights of the id of a folder. A right on the folder alone removes nothing in it, so that denials
// below hold.
const (
	mayWrite = windows.FILE_GENERIC_READ | windows.FILE_GENERIC_WRITE | windows.FILE_GENERIC_EXECUTE | windows.DELETE
	noWrite  = windows.FILE_WRITE_DATA | windows.FILE_APPEND_DATA | windows.FILE_WRITE_EA | windows.FILE_WRITE_ATTRIBUTES |
		windows.DELETE | windows.WRITE_DAC | windows.WRITE_OWNER
)

// held are the places of a workspace in which a file would make other programs run something later.
func held() []string {
	return append(delicate.Spelled(delicate.Top), `.git\hooks`, `.git\config`, `.git\info`, `.git\modules`)
}

// letWrite lets the id of a folder write in it, and not in those places of it that are held.
func letWrite(folder string, id *windows.SID, held []string) error {
	if err := allow(folder, id, lookAt(id, windows.GRANT_ACCESS, mayWrite, windows.SUB_CONTAINERS_AND_OBJECTS_INHERIT)); err != nil {
		return err
	}
	for _, name := range held {
		path := filepath.Join(folder, name)
		switch _, err := os.Lstat(path); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		default:
			if err := allow(path, id, lookAt(id, windows.DENY_ACCESS, noWrite, windows.SUB_CONTAINERS_AND_OBJECTS_INHERIT)); err != nil {
				return err
			}
		}
	}
	return nil
}

// allow adds an entry to the access list of a file or folder, unless it names the id by itself.
func allow(path string, id *windows.SID, e windows.EXPLICIT_ACCESS) error {
	info, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return fmt.Errorf("the access list of %s: %w", path, err)
	}
	old, _, err := info.DACL()
	if err != nil {
		return fmt.Errorf("the access list of %s: %w", path, err)
	}
	if old != nil && slices.ContainsFunc(entriesOf(old), func(a *windows.ACCESS_ALLOWED_ACE) bool {
		return a.Header.AceFlags&windows.INHERITED_ACE == 0 && windows.EqualSid((*windows.SID)(unsafe.Pointer(&a.SidStart)), id)
	}) {
		return nil
	}
	list, err := windows.ACLFromEntries([]windows.EXPLICIT_ACCESS{e}, old)
	if err != nil {
		return err
	}
	if err := windows.SetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION, nil, nil, list, nil); err != nil {
		return fmt.Errorf("change the access list of %s: %w", path, err)
	}
	return nil
}

func entriesOf(list *windows.ACL) (all []*windows.ACCESS_ALLOWED_ACE) {
	for i := range uint32(list.AceCount) {
		var a *windows.ACCESS_ALLOWED_ACE
		if windows.GetAce(list, i, &a) == nil {
			all = append(all, a)
		}
	}
	return all
}

// asToken starts a process with a token.
func asToken(t windows.Token) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Token: syscall.Token(t)}
}
