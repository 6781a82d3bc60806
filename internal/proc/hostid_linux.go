package proc

import (
	"fmt"
	"os"
	"strings"
	"sync"
)

// hostID is a unique ID of this process: "<boot>.<pid namespace>.<pid>.<start>". It shows which process a
// cookie belongs to, and whether that process is still running. It includes the PID namespace because PIDs are
// valid only in their namespace.
var hostID = sync.OnceValue(func() string {
	pid := os.Getpid()
	self, _ := system.stat(pid) // without /proc, hostID is not read
	return fmt.Sprintf("%s.%d.%d", hostScope(), pid, self.start)
})

// hostScope is the part of hostID that all processes of this boot and namespace share.
var hostScope = sync.OnceValue(func() string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	namespace, _ := os.Readlink("/proc/self/ns/pid") // "pid:[4026531836]"
	return strings.TrimSpace(string(boot)) + "." + strings.Trim(namespace, "pid:[]")
})
