package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
)

// wireBench measures the protocol by itself: what a statement costs that does
// nothing, and what a client costs that does nothing.
type wireBench struct {
	clients int
	seconds float64
	idle    int
	mode    string
}

// benchWireCommand is "tally bench wire".
func benchWireCommand() *cobra.Command {
	b := &wireBench{}
	cmd := &cobra.Command{
		Use:   "wire",
		Short: "SELECT 1 in the extended protocol, and the memory of idle connections",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return b.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	f := cmd.Flags()
	f.IntVar(&b.clients, "clients", 16, "connections that send statements, each one at a time")
	f.Float64Var(&b.seconds, "seconds", 5, "how long, each mode")
	f.IntVar(&b.idle, "idle", 10_000, "connections that wait; 0 skips it")
	f.StringVar(&b.mode, "mode", "", "only one: prepared, unnamed or simple")
	return cmd
}

// wireModes are what a client sends for one SELECT 1, by name, in the order in
// which they are measured.
var wireModes = []struct {
	name    string
	prepare []byte // once
	request []byte
}{
	{"prepared", append(wireMessage('P', "s\x00SELECT 1\x00\x00\x00"), wireMessage('S', "")...), slices.Concat(
		wireMessage('B', "\x00s\x00\x00\x00\x00\x00\x00\x00"), wireMessage('E', "\x00\x00\x00\x00\x00"), wireMessage('S', ""))},
	{"unnamed", nil, slices.Concat(
		wireMessage('P', "\x00SELECT 1\x00\x00\x00"), wireMessage('B', "\x00\x00\x00\x00\x00\x00\x00\x00"), wireMessage('D', "P\x00"),
		wireMessage('E', "\x00\x00\x00\x00\x00"), wireMessage('S', ""))},
	{"simple", nil, wireMessage('Q', "SELECT 1\x00")},
}

// wireMessage frames a message of the protocol.
func wireMessage(kind byte, body string) []byte {
	b := binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(body)+4))
	return append(b, body...)
}

func (b *wireBench) run(ctx context.Context, out io.Writer) error {
	dir, err := os.MkdirTemp("", "tally-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	server, err := startChild(ctx, dir, "--max-connections", fmt.Sprint(b.clients+b.idle+10))
	if err != nil {
		return err
	}
	for _, m := range wireModes {
		if err == nil && (b.mode == "" || b.mode == m.name) {
			err = b.statements(ctx, out, server, m.name, m.prepare, m.request)
		}
	}
	if err == nil && b.idle > 0 {
		err = b.waiting(ctx, out, server)
	}
	return errors.Join(err, server.stop())
}

// statements prints how many statements a second the clients get answered.
func (b *wireBench) statements(ctx context.Context, out io.Writer, server *child, mode string, prepare, request []byte) error {
	before, err := server.cpu(ctx)
	if err != nil {
		return err
	}
	length := time.Duration(b.seconds * float64(time.Second))
	counts, times := make([]int64, b.clients), make([][]time.Duration, b.clients)
	group, ctx := errgroup.WithContext(ctx)
	began := time.Now()
	for k := range b.clients {
		group.Go(func() error {
			c, err := dialWire(ctx, server.pg)
			if err != nil {
				return err
			}
			defer c.net.Close()
			if prepare != nil {
				if err := c.ask(prepare); err != nil {
					return err
				}
			}
			for time.Since(began) < length {
				sent := time.Now()
				if err := c.ask(request); err != nil {
					return err
				}
				if counts[k]++; counts[k]%16 == 0 {
					times[k] = append(times[k], time.Since(sent))
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	took := time.Since(began)
	after, err := server.cpu(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	n := int64(0)
	for _, c := range counts {
		n += c
	}
	all := slices.Concat(times...)
	slices.Sort(all)
	fmt.Fprintf(out, "tally: SELECT 1 %-8s  %d connections  %.0f/s  p50 %v  p99 %v  server CPU %.1f us a statement\n", mode, b.clients,
		float64(n)/took.Seconds(), percentile(all, 0.5), percentile(all, 0.99), float64((after-before).Nanoseconds())/float64(n)/1000)
	return nil
}

func percentile(sorted []time.Duration, p float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(p*float64(len(sorted))))].Round(time.Microsecond)
}

// waiting prints the memory of the server while clients are connected that have
// run one statement each and wait.
func (b *wireBench) waiting(ctx context.Context, out io.Writer, server *child) error {
	before, err := server.metric(ctx, "process_resident_memory_bytes")
	if err != nil {
		return err
	}
	conns := make([]*wireClient, 0, b.idle)
	defer func() {
		for _, c := range conns {
			_ = c.net.Close()
		}
	}()
	request := wireMessage('Q', "SELECT 1\x00")
	for range b.idle {
		c, err := dialWire(ctx, server.pg)
		if err != nil {
			return fmt.Errorf("after %d connections: %w", len(conns), err)
		}
		conns = append(conns, c)
		if err := c.ask(request); err != nil {
			return err
		}
	}
	after, err := server.metric(ctx, "process_resident_memory_bytes")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "tally: %d idle connections  RSS %.0f MiB, %.0f MiB before them, %.1f KiB each\n", b.idle, after/(1<<20), before/(1<<20),
		(after-before)/float64(b.idle)/1024)
	return nil
}

// wireClient is a client that costs little by itself.
type wireClient struct {
	net net.Conn
	in  *bufio.Reader
}

// dialWire connects and waits until the server is ready.
func dialWire(ctx context.Context, addr string) (*wireClient, error) {
	var d net.Dialer
	nc, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	c := &wireClient{net: nc, in: bufio.NewReaderSize(nc, 512)}
	body := "\x00\x03\x00\x00user\x00tally\x00database\x00tally\x00\x00"
	hello := append(binary.BigEndian.AppendUint32(nil, uint32(len(body)+4)), body...)
	if err := c.ask(hello); err != nil {
		return nil, errors.Join(err, nc.Close())
	}
	return c, nil
}

// ask sends a request and reads until the server is ready again.
func (c *wireClient) ask(request []byte) error {
	if _, err := c.net.Write(request); err != nil {
		return err
	}
	for {
		head, err := c.in.Peek(5)
		if err != nil {
			return err
		}
		kind, n := head[0], int(binary.BigEndian.Uint32(head[1:]))+1
		if kind == 'E' {
			body := make([]byte, n)
			_, err := io.ReadFull(c.in, body)
			return errors.Join(fmt.Errorf("the server answered with an error: %q", body), err)
		}
		if _, err := c.in.Discard(n); err != nil {
			return err
		}
		if kind == 'Z' {
			return nil
		}
	}
}
