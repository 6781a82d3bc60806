package localfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
)

// private returns the security descriptor of a directory that only this user, the system and the administrators may
// enter, like the profile of a user. New files and directories in it inherit the permissions, and it inherits none.
var private = sync.OnceValues(func() (*windows.SECURITY_DESCRIPTOR, error) {
	self, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, err
	}
	const others = "(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)"
	return windows.SecurityDescriptorFromString("D:P" + others + "(A;OICI;FA;;;" + self.User.Sid.String() + ")")
})

// mkdir creates a private directory.
func mkdir(path string) error {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return err
	}
	security, err := private()
	if err != nil {
		return err
	}
	attributes := &windows.SecurityAttributes{SecurityDescriptor: security}
	attributes.Length = uint32(unsafe.Sizeof(*attributes))
	if err := windows.CreateDirectory(name, attributes); err != nil {
		return &fs.PathError{Op: "mkdir", Path: path, Err: err}
	}
	return nil
}

// mkdirAll creates a private directory, and those above it if they are missing.
func mkdirAll(path string) error {
	err := mkdir(path)
	if errors.Is(err, fs.ErrNotExist) && path != filepath.Dir(path) {
		if err := mkdirAll(filepath.Dir(path)); err != nil {
			return err
		}
		err = mkdir(path)
	}
	if info, failed := os.Stat(path); failed == nil && info.IsDir() {
		return nil
	}
	return err
}

// closeToOthers makes an existing directory private.
func closeToOthers(_ *os.File, _ fs.FileInfo, path string) error {
	if is, err := isPrivate(path); err == nil && is {
		return nil
	}
	security, err := private()
	if err != nil {
		return err
	}
	list, _, err := security.DACL()
	if err == nil {
		const what = windows.DACL_SECURITY_INFORMATION | windows.PROTECTED_DACL_SECURITY_INFORMATION
		err = windows.SetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, what, nil, nil, list, nil)
	}
	if err != nil {
		return fmt.Errorf("others may enter %s: %w", path, err)
	}
	return nil
}

// isPrivate reports whether only the users of a private directory have permissions.
func isPrivate(path string) (bool, error) {
	security, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return false, err
	}
	others, err := permissionsOfOthers(security)
	return others == 0, err
}

// permissionsOfOthers returns the permissions that a security descriptor gives to users other than those of a private
// directory.
func permissionsOfOthers(security *windows.SECURITY_DESCRIPTOR) (others windows.ACCESS_MASK, err error) {
	wanted, err := private()
	if err != nil {
		return 0, err
	}
	users, err := entries(wanted)
	if err != nil {
		return 0, err
	}
	list, err := entries(security)
	for _, e := range list {
		if !slices.ContainsFunc(users, func(u *windows.ACCESS_ALLOWED_ACE) bool { return sid(u).Equals(sid(e)) }) {
			others |= e.Mask
		}
	}
	return others, err
}

// entries returns the permissions in a security descriptor. It returns an error for one without a list of permissions,
// which gives all permissions to all users, and for a list with other entries than permissions.
func entries(security *windows.SECURITY_DESCRIPTOR) (all []*windows.ACCESS_ALLOWED_ACE, err error) {
	list, _, err := security.DACL()
	if err == nil && list == nil {
		err = errors.New("no list of permissions")
	}
	if err != nil {
		return nil, err
	}
	for i := range uint32(list.AceCount) {
		var entry *windows.ACCESS_ALLOWED_ACE
		if err := windows.GetAce(list, i, &entry); err != nil {
			return nil, err
		}
		if entry.Header.AceType != windows.ACCESS_ALLOWED_ACE_TYPE {
			return nil, fmt.Errorf("entry %d is no permission", i)
		}
		all = append(all, entry)
	}
	return all, nil
}

func sid(entry *windows.ACCESS_ALLOWED_ACE) *windows.SID {
	return (*windows.SID)(unsafe.Pointer(&entry.SidStart))
}
