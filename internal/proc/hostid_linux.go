package proc

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
)

// hostID names this process among all that ever were or will be: "<boot>.<pid namespace>.<pid>.<start>". It tells
// whose a cookie is, and whether its owner lives. The namespace is part of it because ids mean nothing outside theirs.
var hostID = sync.OnceValue(func() string {
	pid := os.Getpid()
	self, _ := system.stat(pid) // without /proc nobody reads it anyway
	return fmt.Sprintf("%s.%d.%d", hostScope(), pid, self.start)
})

// hostScope is the part of hostID that is common to all processes whose ids we can judge.
var hostScope = sync.OnceValue(func() string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	namespace, _ := os.Readlink("/proc/self/ns/pid") // "pid:[4026531836]"
	return strings.TrimSpace(string(boot)) + "." + strings.Trim(namespace, "pid:[]")
})

// ownerGone reports whether the cookie is of this boot and namespace, and its process is no more. Of a nested cookie the
// innermost counts.
func ownerGone(p *procfs, cookie string) bool {
	cookie = cookie[strings.LastIndexByte(cookie, ',')+1:]
	rest, ok := strings.CutPrefix(cookie, hostScope()+".")
	parts := strings.Split(rest, ".")
	if !ok || len(parts) != 3 {
		return false
	}
	pid, errPid := strconv.Atoi(parts[0])
	start, errStart := strconv.ParseUint(parts[1], 10, 64)
	if errPid != nil || errStart != nil {
		return false
	}
	owner, err := p.stat(pid)
	return os.IsNotExist(err) || (err == nil && owner.start != start)
}
