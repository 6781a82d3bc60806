package fake

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unsafe"
)

// Survivors lists the live processes that run the program at path. All processes of a fake run the same program, which
// is a copy for this fake, whatever their group, parent or environment. Args of the result is the path alone.
func Survivors(path string) (found []Survivor) {
	snapshot, err := syscall.CreateToolhelp32Snapshot(syscall.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = syscall.CloseHandle(snapshot) }()
	entry := syscall.ProcessEntry32{Size: uint32(unsafe.Sizeof(syscall.ProcessEntry32{}))}
	for err = syscall.Process32First(snapshot, &entry); err == nil; err = syscall.Process32Next(snapshot, &entry) {
		pid, name := int(entry.ProcessID), syscall.UTF16ToString(entry.ExeFile[:])
		if pid != os.Getpid() && strings.EqualFold(name, filepath.Base(path)) && sameFile(program(pid), path) {
			found = append(found, Survivor{pid, []string{path}})
		}
	}
	return found
}

var queryImageName = syscall.NewLazyDLL("kernel32.dll").NewProc("QueryFullProcessImageNameW")

// program returns the path of the program of a process, or "" if the process has ended.
func program(pid int) string {
	const limitedInformation = 0x1000
	handle, err := syscall.OpenProcess(limitedInformation, false, uint32(pid))
	if err != nil {
		return ""
	}
	defer func() { _ = syscall.CloseHandle(handle) }()
	var name [syscall.MAX_LONG_PATH]uint16
	size := uint32(len(name))
	ok, _, _ := queryImageName.Call(uintptr(handle), 0, uintptr(unsafe.Pointer(&name[0])), uintptr(unsafe.Pointer(&size)))
	if ok == 0 {
		return ""
	}
	return syscall.UTF16ToString(name[:size])
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// getsid returns 0, because Windows has no such sessions.
func getsid() int { return 0 }
