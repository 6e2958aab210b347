package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// child is a server that runs as a process of its own, so that it can be
// measured apart from its client, and killed.
type child struct {
	cmd  *exec.Cmd
	pg   string // host:port
	http string
	dir  string
	args []string
}

// startChild starts "tally serve" of this binary on a data directory and waits
// until it is ready.
func startChild(ctx context.Context, dir string, args ...string) (*child, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{dir: dir, args: args}
	all := append([]string{"serve", "--data", dir, "--pg-addr", "127.0.0.1:0", "--http-addr", "127.0.0.1:0", "--log-level", "warn"}, args...)
	c.cmd = exec.CommandContext(ctx, exe, all...)
	c.cmd.Stderr = os.Stderr
	c.cmd.Cancel = func() error { return c.cmd.Process.Signal(syscall.SIGTERM) }
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start server: %w", err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the server did not become ready: %w", err), c.cmd.Wait())
	}
	for _, field := range strings.Fields(line) {
		if v, ok := strings.CutPrefix(field, "pg="); ok {
			c.pg = v
		}
		if v, ok := strings.CutPrefix(field, "http="); ok {
			c.http = v
		}
	}
	return c, nil
}

// url returns the connection string of a client.
func (c *child) url() string { return "postgres://tally@" + c.pg + "/tally?sslmode=disable" }

// connect opens a connection.
func (c *child) connect(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pgx.Connect(ctx, c.url())
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return conn, nil
}

// stop ends the server as an operator would, and expects exit status 0.
func (c *child) stop() error {
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return c.cmd.Wait()
}

// kill ends the server as a crash would.
func (c *child) kill() {
	_ = c.cmd.Process.Kill() // it may have ended by itself
	_ = c.cmd.Wait()         // "signal: killed" is what is wanted
}

// metric returns a metric of the server, summed over its labels.
func (c *child) metric(ctx context.Context, name string) (float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.http+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	sum, found := 0.0, false
	scanner := bufio.NewScanner(resp.Body)
	for scanner.Scan() {
		line := scanner.Text()
		key, value, ok := strings.Cut(line, " ")
		if base, _, labelled := strings.Cut(key, "{"); ok && (key == name || labelled && base == name) {
			if at := strings.LastIndexByte(line, ' '); at >= 0 {
				value = line[at+1:]
			}
			v, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return 0, err
			}
			sum, found = sum+v, true
		}
	}
	if !found {
		return 0, fmt.Errorf("the server has no metric %s", name)
	}
	return sum, scanner.Err()
}

// cpu returns the CPU time that the server has used.
func (c *child) cpu(ctx context.Context) (time.Duration, error) {
	s, err := c.metric(ctx, "process_cpu_seconds_total")
	return time.Duration(s * float64(time.Second)), err
}
