package slots

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
)

// settle sets files to unchanged in changed if the index of the original proves that. Git compares the content of a
// file whose time is in the same second as that of the index. Without the filters and conversions of the original,
// which could run programs, the content can differ from the blob. The times of both have nanoseconds, which decide
// here.
func (o original) settle(ctx context.Context, changed map[string]bool) error {
	suspects := false
	for _, is := range changed {
		suspects = suspects || is
	}
	index, err := lstat(o.repo.Index)
	if !suspects || err != nil {
		return nil
	}
	out, err := o.repo.Ask(ctx, nil, "ls-files", "--cached", "--debug", "-z")
	if err != nil {
		return err
	}
	for text := string(out); text != ""; {
		name, rest, _ := strings.Cut(text, "\x00")
		data, n := debugStamp(rest)
		if n == 0 {
			return fmt.Errorf("workspace: unexpected output of git ls-files: %q", text[:min(len(text), 200)])
		}
		text = rest[n:]
		if !changed[name] {
			continue
		}
		s, err := lstat(filepath.Join(o.top, filepath.FromSlash(name)))
		same := err == nil && s.ctime == data.ctime && s.mtime == data.mtime && uint32(s.ino) == uint32(data.ino) &&
			uint32(s.size) == uint32(data.size)
		if same && s.mtime < index.mtime && s.ctime < index.mtime {
			delete(changed, name)
		}
	}
	return nil
}

// debugStamp parses the lines of "git ls-files --debug" that follow a path. It returns their length, or 0.
func debugStamp(text string) (s stamp, length int) {
	const lines = 5
	end := 0
	for range lines {
		next := strings.IndexByte(text[end:], '\n')
		if next < 0 {
			return s, 0
		}
		end += next + 1
	}
	var ctime, ctimeRest, mtime, mtimeRest uint64
	_, err := fmt.Sscanf(text[:end], " ctime: %d:%d\n mtime: %d:%d\n dev: %d ino: %d\n uid: %d gid: %d\n size: %d",
		&ctime, &ctimeRest, &mtime, &mtimeRest, &s.dev, &s.ino, &s.uid, &s.gid, &s.size)
	if err != nil {
		return s, 0
	}
	const second = 1_000_000_000
	s.ctime, s.mtime = ctime*second+ctimeRest, mtime*second+mtimeRest
	return s, end
}
