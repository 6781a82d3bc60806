package proc

import (
	"fmt"
	"os"
	"strings"
	"sync"
)

// hostID identifies this process for all time: "<boot>.<pid namespace>.<pid>.<start>". It tells which process a cookie
// belongs to, and whether that still runs. Process ids are only valid in their namespace, so that is part of it.
var hostID = sync.OnceValue(func() string {
	pid := os.Getpid()
	self, _ := system.stat(pid) // without /proc nothing reads it
	return fmt.Sprintf("%s.%d.%d", hostScope(), pid, self.start)
})

// hostScope is the part of hostID that all processes of this boot and namespace share.
var hostScope = sync.OnceValue(func() string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	namespace, _ := os.Readlink("/proc/self/ns/pid") // "pid:[4026531836]"
	return strings.TrimSpace(string(boot)) + "." + strings.Trim(namespace, "pid:[]")
})
