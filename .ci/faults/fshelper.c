/* Mounts, unmounts and shuts down file systems, one command a line, so that the test that drives it
   starts no process at the moment that matters. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <unistd.h>

/* XFS_IOC_GOINGDOWN, which ext4 knows too; 2 flushes neither the log nor anything else. */
#define GOING_DOWN _IOR('X', 125, uint32_t)
#define NO_LOG_FLUSH 2

static int cut(const char *mount_point) {
  uint32_t flags = NO_LOG_FLUSH;
  int fd = open(mount_point, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  int result = ioctl(fd, GOING_DOWN, &flags);
  int failure = errno;
  close(fd);
  errno = failure;
  return result;
}

int main(void) {
  char line[4096], command[16], a[1024], b[1024], c[1024];
  while (fgets(line, sizeof line, stdin)) {
    int words = sscanf(line, "%15s %1023s %1023s %1023s", command, a, b, c);
    int result = -1;
    errno = EINVAL;
    if (words == 4 && !strcmp(command, "mount")) result = mount(b, c, a, 0, NULL);
    if (words == 2 && !strcmp(command, "umount")) result = umount2(a, 0);
    if (words == 2 && !strcmp(command, "cut")) result = cut(a);
    puts(result == 0 ? "ok" : strerror(errno));
    fflush(stdout);
  }
  return 0;
}
