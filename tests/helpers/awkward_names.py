"""Names of subjects that a careless page would run, and a careless table compute."""

SCRIPT = "</script><script>document.title='taken'</script>"
IMAGE = "\"><img src=x onerror=document.title='taken'>"
FORMULA = "=SUM(A1)"
FAILED = "-gone|*away*"
NAMES = ["Ann", SCRIPT, IMAGE, FORMULA]
