import sys

print("this line must not be among the results")
sys.exit(0)
