package tree

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxInflated limits the bytes of all binary contents of a patch.
const maxInflated = 1 << 30

// binary is the new content of a file, or the instructions that make it from the old one.
type binary struct {
	delta bool
	data  []byte
}

// binary parses the content of a binary file and skips that of the opposite direction.
func (p *parser) binary() (*binary, error) {
	forward, err := p.binaryHunk()
	if err != nil {
		return nil, err
	}
	_, err = p.binaryHunk()
	return forward, err
}

func (p *parser) binaryHunk() (*binary, error) {
	b := &binary{}
	size, ok := p.cut("literal ")
	if !ok {
		if size, b.delta = p.cut("delta "); !b.delta {
			return nil, errPatch
		}
	}
	want, err := strconv.ParseUint(size, 10, 40)
	if err != nil {
		return nil, errPatch
	}
	if p.inflated += int64(want); p.inflated > maxInflated {
		return nil, fmt.Errorf("the binary files have more than %d bytes", maxInflated)
	}
	var packed []byte
	for {
		line, ok := p.cut("")
		if !ok {
			return nil, errPatch
		}
		if line == "" {
			break
		}
		if packed, err = decodeLine(packed, line); err != nil {
			return nil, err
		}
	}
	r, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, errPatch
	}
	if b.data, err = io.ReadAll(io.LimitReader(r, int64(want)+1)); err != nil || uint64(len(b.data)) != want {
		return nil, errPatch
	}
	return b, nil
}

const digits85 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"

// decodeLine appends the bytes of a line of base 85, whose first letter is the number of bytes.
func decodeLine(to []byte, line string) ([]byte, error) {
	var length int
	switch c := line[0]; {
	case c >= 'A' && c <= 'Z':
		length = int(c-'A') + 1
	case c >= 'a' && c <= 'z':
		length = int(c-'a') + 27
	}
	line = line[1:]
	if length == 0 || len(line) != (length+3)/4*5 {
		return nil, errPatch
	}
	for ; len(line) > 0; line = line[5:] {
		var n uint64
		for i := range 5 {
			digit := strings.IndexByte(digits85, line[i])
			if digit < 0 {
				return nil, errPatch
			}
			n = n*85 + uint64(digit)
		}
		if n > 1<<32-1 {
			return nil, errPatch
		}
		part := []byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}
		to = append(to, part[:min(4, length)]...)
		length -= 4
	}
	return to, nil
}

// apply returns the new content of a file.
func (b *binary) apply(old []byte) ([]byte, error) {
	if !b.delta {
		return b.data, nil
	}
	data := b.data
	oldSize, n1 := varint(data)
	data = data[n1:]
	newSize, n2 := varint(data)
	data = data[n2:]
	if n1 == 0 || n2 == 0 || oldSize != uint64(len(old)) || newSize > maxInflated {
		return nil, errPatch
	}
	var out []byte
	for len(data) > 0 {
		op := data[0]
		data = data[1:]
		if op&0x80 == 0 {
			if op == 0 || int(op) > len(data) {
				return nil, errPatch
			}
			out, data = append(out, data[:op]...), data[op:]
			continue
		}
		var values [7]int
		for i := range values {
			if op&(1<<i) != 0 {
				if len(data) == 0 {
					return nil, errPatch
				}
				values[i], data = int(data[0]), data[1:]
			}
		}
		offset := values[0] | values[1]<<8 | values[2]<<16 | values[3]<<24
		size := values[4] | values[5]<<8 | values[6]<<16
		if size == 0 {
			size = 1 << 16
		}
		if offset > len(old) || size > len(old)-offset || uint64(len(out)+size) > newSize {
			return nil, errPatch
		}
		out = append(out, old[offset:offset+size]...)
	}
	if uint64(len(out)) != newSize {
		return nil, errPatch
	}
	return out, nil
}

// varint parses a number with seven bits in each byte. n is 0 if there is none.
func varint(data []byte) (value uint64, n int) {
	for i, c := range data {
		if i == 9 {
			break
		}
		value |= uint64(c&0x7f) << (7 * i)
		if c&0x80 == 0 {
			return value, i + 1
		}
	}
	return 0, 0
}
