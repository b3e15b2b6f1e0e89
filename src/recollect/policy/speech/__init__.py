"""What people say: taken apart, weighed, and quoted or told where it is worth keeping."""
