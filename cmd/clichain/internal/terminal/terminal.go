package terminal

import "golang.org/x/term"

// file is a stream with a descriptor, such as an [os.File].
type file interface{ Fd() uintptr }

// Is reports whether a stream is a terminal.
func Is(stream any) bool {
	f, ok := stream.(file)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Columns returns the width of the terminal of a stream, or 0 if it is unknown.
func Columns(stream any) int {
	if f, ok := stream.(file); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			return width
		}
	}
	return 0
}

// Lines returns the height of the terminal of a stream, or 24 if it is unknown.
func Lines(stream any) int {
	if f, ok := stream.(file); ok {
		if _, height, err := term.GetSize(int(f.Fd())); err == nil && height > 0 {
			return height
		}
	}
	return 24
}
