//go:build !linux

package landlock

// The rights of a [Rule].
const (
	Read Access = 1 << iota
	Execute
	Write
	Device
)
