package landlock

import (
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The rights of a [Rule].
const (
	Read    Access = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	Execute Access = unix.LANDLOCK_ACCESS_FS_EXECUTE
	Write   Access = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_SYM |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
		unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REFER
	Device Access = unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// onFiles are the rights that exist for other files than directories. The kernel refuses others on them.
const onFiles = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
	unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV

// never are rights that a ruleset denies and no rule grants: to create device files.
const never = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK

// since lists the rights and scopes that an older kernel does not know, by the first version of Landlock that does.
// Source: the kernel's Documentation/userspace-api/landlock.rst.
var since = []struct {
	version       int
	files, scopes uint64
}{
	{2, unix.LANDLOCK_ACCESS_FS_REFER, 0},
	{3, unix.LANDLOCK_ACCESS_FS_TRUNCATE, 0},
	{5, unix.LANDLOCK_ACCESS_FS_IOCTL_DEV, 0},
	{6, 0, unix.LANDLOCK_SCOPE_SIGNAL | unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET},
}

// Version returns the version of Landlock's interface in this kernel, 0 if there is none or if it is blocked.
func Version() int {
	v, _, err := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if err != 0 {
		return 0
	}
	return int(v)
}

// handled returns what a ruleset denies in a version of the interface, unless a rule grants it.
func handled(version int) (files, scopes uint64) {
	files = uint64(Read|Execute|Write|Device) | never
	for _, s := range since {
		if version < s.version {
			files &^= s.files
			continue
		}
		scopes |= s.scopes
	}
	return files, scopes
}

// newRuleset creates a set of rules in the kernel. It denies everything that the rules do not grant, and that the
// kernel can deny. It also denies signals to processes outside, and connections to their abstract sockets, if the
// kernel can. A rule for a path that cannot be opened grants nothing.
func newRuleset(rules []Rule) (*os.File, error) {
	files, scopes := handled(Version())
	attr := unix.LandlockRulesetAttr{Handled_access_fs: files, Scoped: scopes}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return nil, os.NewSyscallError("landlock_create_ruleset", errno)
	}
	set := os.NewFile(fd, "ruleset") // the kernel sets close-on-exec
	for _, rule := range rules {
		if err := add(set.Fd(), rule, files); err != nil {
			_ = set.Close() // nothing was written
			return nil, &os.PathError{Op: "landlock_add_rule", Path: rule.Path, Err: err}
		}
	}
	return set, nil
}

func add(set uintptr, rule Rule, handled uint64) error {
	fd, err := open(rule)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	access := uint64(rule.Access) & handled
	err = addOpen(set, fd, access)
	if err == unix.EINVAL { // the file is no directory
		err = addOpen(set, fd, access&onFiles)
	}
	return err
}

// addOpen grants rights on an open file.
func addOpen(set uintptr, fd int, access uint64) error {
	if access == 0 {
		return nil
	}
	attr := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, set, unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// open opens the path of a rule, without any right on it.
func open(rule Rule) (fd int, err error) {
	if !rule.NoLinks {
		return unix.Open(rule.Path, openPath, 0)
	}
	how := unix.OpenHow{Flags: openPath, Resolve: unix.RESOLVE_NO_SYMLINKS}
	fd, err = unix.Openat2(unix.AT_FDCWD, rule.Path, &how)
	if err == unix.ENOSYS || err == unix.EPERM { // some containers block this system call
		return openCompared(rule.Path)
	}
	return fd, err
}

const openPath = unix.O_PATH | unix.O_CLOEXEC

// openCompared opens a path, unless it leads to another one.
func openCompared(path string) (fd int, err error) {
	fd, err = unix.Open(path, openPath, 0)
	if err == nil && pathOf(fd) != path {
		_ = unix.Close(fd) // nothing was written
		return -1, unix.ELOOP
	}
	return fd, err
}

// pathOf returns the path of an open file, or "" if the system does not show it.
func pathOf(fd int) string {
	path := make([]byte, unix.PathMax)
	n, err := unix.Readlink("/proc/self/fd/"+strconv.Itoa(fd), path)
	if err != nil {
		return ""
	}
	return string(path[:n])
}
