package kinfo_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
	"unsafe"

	"github.com/clichain/clichain/internal/proc/internal/kinfo"
	"github.com/stretchr/testify/require"
)

// entry is struct kinfo_proc of sys/sysctl.h in a 64-bit program, with a filler for the members that nothing reads. It
// repeats the declaration of C independently of the offsets of kinfo: the compiler sets the padding.
type entry struct {
	Start struct {
		Seconds int64
		Micros  int32
		_       [4]byte // the end of a struct timeval
	}
	_       [2]uint64 // p_vmspace, p_sigacts
	_       uint32    // p_flag
	State   int8
	_       [3]byte
	PID     int32
	Old     int32     // p_oppid
	_       [195]byte // to p_comm
	Name    [17]byte  // p_comm
	_       [4]byte   // to p_pgrp
	_       [2]uint64 // p_pgrp, p_addr
	_       [4]byte   // p_xstat, p_acflag
	_       [4]byte
	_       uint64    // p_ru: the end of struct extern_proc
	_       [2]uint64 // e_paddr, e_sess
	_       [104]byte // struct _pcred
	_       [76]byte  // struct _ucred
	_       [4]byte
	_       [64]byte // struct vmspace
	Parent  int32
	Group   int32
	_       [2]int32 // e_jobc, e_tdev
	Leading int32    // e_tpgid
	_       [4]byte
	_       uint64 // e_tsess
	_       [56]byte
}

// filler is the value of each byte that nothing should read.
const filler = 0xA5

// table returns the bytes that sysctl writes.
func table(t testing.TB, entries ...entry) []byte {
	var out bytes.Buffer
	for _, e := range entries {
		require.NoError(t, binary.Write(&out, binary.LittleEndian, e))
	}
	require.Equal(t, len(entries)*kinfo.Size, out.Len())
	return out.Bytes()
}

func process(pid, parent, group int32, seconds int64, micros int32) entry {
	e := entry{State: 3, PID: pid, Old: filler, Parent: parent, Group: group, Leading: filler}
	e.Start.Seconds, e.Start.Micros = seconds, micros
	return e
}

func TestParse(t *testing.T) {
	require.EqualValues(t, kinfo.Size, unsafe.Sizeof(entry{}))
	require.EqualValues(t, kinfo.Parent, unsafe.Offsetof(entry{}.Parent))
	shell := process(501, 1, 501, 1_764_000_000, 999_999)
	copy(shell.Name[:], "a name ) Z 1 0 7")
	dead := process(502, 501, 501, 1_764_000_001, 0)
	dead.State = 5
	orphan := process(99_998, 1, 502, 1_764_000_002, 7)
	kernel, negative := process(0, 0, 0, 1_763_000_000, 0), process(-1, 501, 501, 1, 0)
	parsed, err := kinfo.Parse(table(t, kernel, process(1, 0, 1, 1_763_000_000, 1), shell, negative, dead, orphan))
	require.NoError(t, err)
	require.Equal(t, []kinfo.Process{
		{PID: 1, Parent: 0, Group: 1, Start: 1_763_000_000_000_001},
		{PID: 501, Parent: 1, Group: 501, Start: 1_764_000_000_999_999},
		{PID: 502, Parent: 501, Group: 501, Start: 1_764_000_001_000_000, Ended: true},
		{PID: 99_998, Parent: 1, Group: 502, Start: 1_764_000_002_000_007},
	}, parsed)
}

// Only a zombie has ended. A process that is created, runs, sleeps or is stopped has not.
func TestEnded(t *testing.T) {
	for state := range int8(8) {
		e := process(501, 1, 501, 1, 0)
		e.State = state
		parsed, err := kinfo.Parse(table(t, e))
		require.NoError(t, err)
		require.Equal(t, state == 5, parsed[0].Ended, "state %d", state)
	}
}

// The members that the parser does not know change nothing.
func TestParseIgnoresOtherMembers(t *testing.T) {
	clean := table(t, process(501, 1, 502, 1_764_000_000, 3))
	known := map[int]int{
		kinfo.StartSeconds: 8, kinfo.StartMicros: 4, kinfo.State: 1, kinfo.PID: 4, kinfo.Parent: 4, kinfo.Group: 4,
	}
	filled := bytes.Repeat([]byte{filler}, kinfo.Size)
	for offset, size := range known {
		copy(filled[offset:], clean[offset:offset+size])
	}
	want, err := kinfo.Parse(clean)
	require.NoError(t, err)
	parsed, err := kinfo.Parse(filled)
	require.NoError(t, err)
	require.Equal(t, want, parsed)
}

func TestParseOfCutTable(t *testing.T) {
	whole := table(t, process(501, 1, 501, 1, 0), process(502, 1, 502, 2, 0))
	for size := range len(whole) {
		parsed, err := kinfo.Parse(whole[:size])
		if size%kinfo.Size == 0 {
			require.NoError(t, err)
			require.Len(t, parsed, size/kinfo.Size)
			continue
		}
		require.ErrorContains(t, err, "not a multiple of 648")
		require.Empty(t, parsed)
	}
}

// fakeSysctl is a process table in which a process starts between the two system calls of each of the first reads.
type fakeSysctl struct {
	t     *testing.T
	table []entry
	grows int
	fails error
	reads int
}

var errSmall = errors.New("cannot allocate memory")

func (f *fakeSysctl) read() ([]byte, error) {
	f.reads++
	if f.fails != nil {
		return nil, f.fails
	}
	if f.grows > 0 {
		f.grows--
		f.table = append(f.table, process(int32(len(f.table)+1), 1, 1, 1, 0))
		return nil, errSmall
	}
	return table(f.t, f.table...), nil
}

func TestRead(t *testing.T) {
	denied := errors.New("operation not permitted")
	for name, test := range map[string]struct {
		sysctl fakeSysctl
		want   int // processes
		reads  int
		err    error
	}{
		"steady":      {sysctl: fakeSysctl{table: []entry{process(1, 0, 1, 1, 0)}}, want: 1, reads: 1},
		"no process":  {reads: 1},
		"grows":       {sysctl: fakeSysctl{grows: 3}, want: 3, reads: 4},
		"last read":   {sysctl: fakeSysctl{grows: 49}, want: 49, reads: 50},
		"never stops": {sysctl: fakeSysctl{grows: 1000}, reads: 50, err: errSmall},
		"denied":      {sysctl: fakeSysctl{fails: denied}, reads: 1, err: denied},
	} {
		t.Run(name, func(t *testing.T) {
			test.sysctl.t = t
			parsed, err := kinfo.Read(test.sysctl.read, errSmall)
			require.ErrorIs(t, err, test.err)
			require.Len(t, parsed, test.want)
			require.Equal(t, test.reads, test.sysctl.reads)
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte{})
	f.Add(table(f, process(501, 1, 501, 1_764_000_000, 999_999), process(0, 0, 0, 0, 0)))
	f.Add(bytes.Repeat([]byte{0xFF}, 2*kinfo.Size+1))
	f.Fuzz(func(t *testing.T, data []byte) {
		before := slices.Clone(data)
		parsed, err := kinfo.Parse(data)
		require.Equal(t, before, data)
		require.Equal(t, len(data)%kinfo.Size != 0, err != nil)
		require.LessOrEqual(t, len(parsed)*kinfo.Size, len(data))
		for _, p := range parsed {
			require.Positive(t, p.PID)
		}
	})
}
