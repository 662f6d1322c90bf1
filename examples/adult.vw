1 |n:0.02 age:37 school_years:9 hours:40 |c work=Private school=HS-grad status=Married-civ-spouse job=Craft-repair
-1 |n:0.02 age:25 school_years:10 hours:20 |c work=Private school=Some-college status=Married-spouse-absent job=Adm-clerical
1 |n:0.02 age:37 school_years:10 hours:45 |c work=Local-gov school=Some-college status=Married-civ-spouse job=Tech-support
1 |n:0.02 age:42 school_years:10 hours:44 |c work=Private school=Some-college status=Married-civ-spouse job=Prof-specialty
1 |n:0.02 age:48 school_years:10 hours:40 |c work=Private school=Some-college status=Married-civ-spouse job=Craft-repair
-1 |n:0.02 age:29 school_years:7 hours:40 |c work=Private school=11th status=Never-married job=Other-service
-1 |n:0.02 age:20 school_years:6 hours:40 |c work=Private school=10th status=Never-married job=Handlers-cleaners
1 |n:0.02 age:58 school_years:11 hours:40 |c work=Private school=Assoc-voc status=Married-civ-spouse job=Craft-repair
-1 |n:0.02 age:38 school_years:13 hours:40 |c work=Private school=Bachelors status=Never-married job=Adm-clerical
1 |n:0.02 age:26 school_years:10 hours:40 |c work=Private school=Some-college status=Married-civ-spouse job=Tech-support
1 |n:0.02 age:37 school_years:14 hours:60 |c work=Private school=Masters status=Married-civ-spouse job=Exec-managerial
1 |n:0.02 age:47 school_years:9 hours:8 |c school=HS-grad status=Married-civ-spouse
1 |n:0.02 age:63 school_years:14 hours:68 |c work=Self-emp-inc school=Masters status=Married-civ-spouse job=Sales
-1 |n:0.02 age:48 school_years:9 hours:40 |c work=Private school=HS-grad status=Married-civ-spouse job=Craft-repair
-1 |n:0.02 age:23 school_years:9 hours:25 |c work=Self-emp-not-inc school=HS-grad status=Never-married job=Farming-fishing
-1 |n:0.02 age:25 school_years:10 hours:40 |c work=Federal-gov school=Some-college status=Never-married job=Exec-managerial
-1 |n:0.02 age:25 school_years:8 hours:40 |c work=Private school=12th status=Never-married job=Machine-op-inspct
-1 |n:0.02 age:52 school_years:4 hours:40 |c work=Self-emp-not-inc school=7th-8th status=Married-civ-spouse job=Craft-repair
1 |n:0.02 age:31 school_years:12 hours:50 |c work=Private school=Assoc-acdm status=Married-civ-spouse job=Craft-repair
-1 |n:0.02 age:18 school_years:8 hours:40 |c work=Local-gov school=12th status=Never-married job=Protective-serv
-1 |n:0.02 age:17 school_years:6 hours:40 |c school=10th status=Never-married
-1 |n:0.02 age:56 school_years:4 hours:40 |c work=Self-emp-not-inc school=7th-8th status=Divorced job=Other-service
-1 |n:0.02 age:20 school_years:10 hours:25 |c work=Private school=Some-college status=Never-married job=Prof-specialty
1 |n:0.02 age:51 school_years:13 hours:40 |c work=Private school=Bachelors status=Married-civ-spouse job=Craft-repair
-1 |n:0.02 age:46 school_years:13 hours:70 |c work=Local-gov school=Bachelors status=Married-civ-spouse job=Prof-specialty
1 |n:0.02 age:48 school_years:13 hours:44 |c work=Federal-gov school=Bachelors status=Married-civ-spouse job=Prof-specialty
-1 |n:0.02 age:47 school_years:10 hours:40 |c work=Private school=Some-college status=Married-civ-spouse job=Exec-managerial
-1 |n:0.02 age:56 school_years:2 hours:25 |c work=Self-emp-not-inc school=1st-4th status=Separated job=Exec-managerial
-1 |n:0.02 age:19 school_years:10 hours:28 |c work=Private school=Some-college status=Never-married job=Sales
-1 |n:0.02 age:61 school_years:10 hours:40 |c work=Private school=Some-college status=Married-civ-spouse job=Craft-repair
-1 |n:0.02 age:25 school_years:12 hours:40 |c work=State-gov school=Assoc-acdm status=Never-married job=Adm-clerical
-1 |n:0.02 age:21 school_years:10 hours:40 |c work=Private school=Some-college status=Never-married job=Other-service
-1 |n:0.02 age:46 school_years:13 hours:40 |c work=Private school=Bachelors status=Married-civ-spouse job=Tech-support
-1 |n:0.02 age:32 school_years:9 hours:28 |c school=HS-grad status=Divorced
-1 |n:0.02 age:44 school_years:9 hours:38 |c work=Private school=HS-grad status=Married-civ-spouse job=Adm-clerical
-1 |n:0.02 age:38 school_years:10 hours:50 |c work=Private school=Some-college status=Divorced job=Tech-support
1 |n:0.02 age:44 school_years:9 hours:40 |c work=Private school=HS-grad status=Married-civ-spouse job=Sales
-1 |n:0.02 age:26 school_years:10 hours:24 |c work=Federal-gov school=Some-college status=Divorced job=Adm-clerical
-1 |n:0.02 age:75 school_years:3 hours:10 |c work=Private school=5th-6th status=Widowed job=Other-service
1 |n:0.02 age:49 school_years:14 hours:40 |c work=Private school=Masters status=Married-civ-spouse job=Prof-specialty
1 |n:0.02 age:40 school_years:11 hours:40 |c work=Private school=Assoc-voc status=Married-civ-spouse job=Craft-repair
-1 |n:0.02 age:18 school_years:7 hours:40 |c school=11th status=Never-married
1 |n:0.02 age:53 school_years:14 hours:35 |c school=Masters status=Never-married
-1 |n:0.02 age:20 school_years:10 hours:40 |c school=Some-college status=Never-married
-1 |n:0.02 age:58 school_years:9 hours:12 |c school=HS-grad status=Widowed
1 |n:0.02 age:55 school_years:6 hours:40 |c work=Private school=10th status=Married-civ-spouse job=Craft-repair
-1 |n:0.02 age:44 school_years:7 hours:60 |c work=Private school=11th status=Separated job=Other-service
1 |n:0.02 age:66 school_years:10 hours:40 |c work=Local-gov school=Some-college status=Divorced job=Other-service
1 |n:0.02 age:26 school_years:10 hours:50 |c work=Private school=Some-college status=Married-civ-spouse job=Sales
-1 |n:0.02 age:81 school_years:10 hours:20 |c work=Private school=Some-college status=Divorced job=Adm-clerical
-1 |n:0.02 age:31 school_years:6 hours:40 |c school=10th status=Married-civ-spouse
-1 |n:0.02 age:27 school_years:12 hours:25 |c work=Private school=Assoc-acdm status=Married-civ-spouse job=Adm-clerical
-1 |n:0.02 age:49 school_years:4 hours:45 |c work=Private school=7th-8th status=Never-married job=Prof-specialty
-1 |n:0.02 age:73 school_years:9 hours:8 |c school=HS-grad status=Widowed
-1 |n:0.02 age:21 school_years:10 hours:20 |c work=Private school=Some-college status=Never-married job=Sales
-1 |n:0.02 age:57 school_years:4 hours:40 |c work=Local-gov school=7th-8th status=Divorced job=Other-service
1 |n:0.02 age:53 school_years:13 hours:43 |c work=Private school=Bachelors status=Divorced job=Sales
-1 |n:0.02 age:28 school_years:13 hours:40 |c work=Private school=Bachelors status=Never-married job=Sales
-1 |n:0.02 age:53 school_years:6 hours:40 |c work=Private school=10th status=Married-spouse-absent job=Machine-op-inspct
-1 |n:0.02 age:46 school_years:10 hours:40 |c work=Federal-gov school=Some-college status=Divorced job=Transport-moving
-1 |n:0.02 age:37 school_years:13 hours:40 |c work=State-gov school=Bachelors status=Never-married job=Prof-specialty
-1 |n:0.02 age:41 school_years:13 hours:30 |c work=Private school=Bachelors status=Divorced job=Tech-support
-1 |n:0.02 age:26 school_years:4 hours:75 |c work=Self-emp-not-inc school=7th-8th status=Married-civ-spouse job=Transport-moving
-1 |n:0.02 age:31 school_years:13 hours:55 |c work=Private school=Bachelors status=Married-civ-spouse job=Sales
-1 |n:0.02 age:51 school_years:13 hours:45 |c work=Private school=Bachelors status=Divorced job=Prof-specialty
1 |n:0.02 age:42 school_years:9 hours:40 |c work=Private school=HS-grad status=Married-civ-spouse job=Exec-managerial
-1 |n:0.02 age:31 school_years:13 hours:48 |c work=Private school=Bachelors status=Never-married job=Sales
-1 |n:0.02 age:51 school_years:9 hours:38 |c work=Private school=HS-grad status=Divorced job=Adm-clerical
-1 |n:0.02 age:25 school_years:10 hours:40 |c work=Private school=Some-college status=Divorced job=Tech-support
-1 |n:0.02 age:41 school_years:7 hours:25 |c work=Private school=11th status=Divorced job=Priv-house-serv
1 |n:0.02 age:40 school_years:9 hours:45 |c work=Private school=HS-grad status=Married-civ-spouse job=Exec-managerial
-1 |n:0.02 age:28 school_years:13 hours:50 |c work=Private school=Bachelors status=Married-civ-spouse job=Sales
-1 |n:0.02 age:39 school_years:14 hours:40 |c work=Private school=Masters status=Never-married job=Exec-managerial
1 |n:0.02 age:47 school_years:13 hours:40 |c work=Self-emp-not-inc school=Bachelors status=Married-civ-spouse job=Sales
-1 |n:0.02 age:30 school_years:10 hours:55 |c work=Private school=Some-college status=Divorced job=Adm-clerical
-1 |n:0.02 age:31 school_years:9 hours:40 |c work=Private school=HS-grad status=Married-civ-spouse job=Other-service
-1 |n:0.02 age:46 school_years:13 hours:40 |c work=Private school=Bachelors status=Divorced job=Machine-op-inspct
-1 |n:0.02 age:38 school_years:5 hours:40 |c work=Self-emp-not-inc school=9th status=Married-civ-spouse job=Craft-repair
1 |n:0.02 age:55 school_years:14 hours:55 |c work=Self-emp-not-inc school=Masters status=Married-civ-spouse job=Prof-specialty
-1 |n:0.02 age:45 school_years:6 hours:40 |c work=Private school=10th status=Married-civ-spouse job=Sales
-1 |n:0.02 age:18 school_years:7 hours:8 |c work=Private school=11th status=Never-married job=Sales
1 |n:0.02 age:66 school_years:10 hours:40 |c school=Some-college status=Married-civ-spouse
-1 |n:0.02 age:25 school_years:9 hours:40 |c work=Private school=HS-grad status=Separated job=Other-service
1 |n:0.02 age:30 school_years:12 hours:37 |c work=Private school=Assoc-acdm status=Married-civ-spouse job=Transport-moving
-1 |n:0.02 age:61 school_years:6 hours:24 |c work=Private school=10th status=Divorced job=Other-service
-1 |n:0.02 age:57 school_years:9 hours:40 |c work=Private school=HS-grad status=Married-civ-spouse job=Machine-op-inspct
-1 |n:0.02 age:36 school_years:9 hours:50 |c work=Self-emp-not-inc school=HS-grad status=Married-civ-spouse job=Exec-managerial
-1 |n:0.02 age:54 school_years:10 hours:52 |c work=Local-gov school=Some-college status=Married-civ-spouse job=Protective-serv
-1 |n:0.02 age:40 school_years:13 hours:40 |c work=Private school=Bachelors status=Married-civ-spouse job=Prof-specialty
-1 |n:0.02 age:18 school_years:9 hours:11 |c work=Self-emp-not-inc school=HS-grad status=Never-married job=Farming-fishing
-1 |n:0.02 age:37 school_years:11 hours:40 |c work=Private school=Assoc-voc status=Divorced job=Tech-support
-1 |n:0.02 age:21 school_years:10 hours:10 |c work=Private school=Some-college status=Never-married job=Prof-specialty
-1 |n:0.02 age:60 school_years:6 hours:40 |c work=Private school=10th status=Married-civ-spouse job=Transport-moving
1 |n:0.02 age:38 school_years:9 hours:40 |c work=Private school=HS-grad status=Married-civ-spouse job=Craft-repair
-1 |n:0.02 age:23 school_years:9 hours:25 |c work=Private school=HS-grad status=Never-married job=Handlers-cleaners
1 |n:0.02 age:46 school_years:13 hours:44 |c work=Private school=Bachelors status=Married-civ-spouse job=Exec-managerial
-1 |n:0.02 age:63 school_years:4 hours:15 |c work=Self-emp-not-inc school=7th-8th status=Married-civ-spouse job=Exec-managerial
-1 |n:0.02 age:21 school_years:9 hours:40 |c work=Private school=HS-grad status=Never-married job=Machine-op-inspct
-1 |n:0.02 age:69 school_years:13 hours:40 |c school=Bachelors status=Married-civ-spouse
1 |n:0.02 age:22 school_years:8 hours:50 |c work=State-gov school=12th status=Never-married job=Exec-managerial
-1 |n:0.02 age:56 school_years:16 hours:40 |c work=State-gov school=Doctorate status=Married-civ-spouse job=Prof-specialty
-1 |n:0.02 age:36 school_years:9 hours:45 |c work=Private school=HS-grad status=Married-civ-spouse job=Machine-op-inspct
-1 |n:0.02 age:33 school_years:13 hours:40 |c work=Private school=Bachelors status=Never-married job=Prof-specialty
-1 |n:0.02 age:28 school_years:6 hours:48 |c work=Private school=10th status=Married-civ-spouse job=Craft-repair
-1 |n:0.02 age:44 school_years:9 hours:40 |c work=Private school=HS-grad status=Divorced job=Machine-op-inspct
1 |n:0.02 age:56 school_years:9 hours:40 |c work=Private school=HS-grad status=Married-civ-spouse job=Sales
-1 |n:0.02 age:74 school_years:12 hours:20 |c school=Assoc-acdm status=Widowed
-1 |n:0.02 age:20 school_years:10 hours:25 |c work=Private school=Some-college status=Never-married job=Other-service
-1 |n:0.02 age:31 school_years:5 hours:40 |c work=Private school=9th status=Divorced job=Transport-moving
-1 |n:0.02 age:18 school_years:10 hours:30 |c school=Some-college status=Never-married
-1 |n:0.02 age:44 school_years:10 hours:45 |c work=Private school=Some-college status=Separated job=Exec-managerial
-1 |n:0.02 age:50 school_years:14 hours:40 |c work=Private school=Masters status=Never-married job=Prof-specialty
-1 |n:0.02 age:18 school_years:7 hours:48 |c school=11th status=Never-married
-1 |n:0.02 age:47 school_years:9 hours:45 |c work=Private school=HS-grad status=Married-civ-spouse job=Sales
1 |n:0.02 age:57 school_years:10 hours:50 |c work=Private school=Some-college status=Married-civ-spouse job=Sales
-1 |n:0.02 age:18 school_years:8 hours:25 |c school=12th status=Never-married
1 |n:0.02 age:21 school_years:10 hours:40 |c work=Private school=Some-college status=Never-married job=Protective-serv
-1 |n:0.02 age:52 school_years:6 hours:40 |c work=Local-gov school=10th status=Married-civ-spouse job=Craft-repair
-1 |n:0.02 age:55 school_years:9 hours:40 |c work=Private school=HS-grad status=Divorced job=Sales
-1 |n:0.02 age:41 school_years:10 hours:40 |c work=Private school=Some-college status=Married-civ-spouse job=Adm-clerical
-1 |n:0.02 age:29 school_years:10 hours:45 |c work=Private school=Some-college status=Never-married job=Handlers-cleaners
-1 |n:0.02 age:23 school_years:10 hours:20 |c work=Private school=Some-college status=Never-married job=Adm-clerical
-1 |n:0.02 age:31 school_years:10 hours:38 |c work=Private school=Some-college status=Divorced job=Adm-clerical
1 |n:0.02 age:50 school_years:10 hours:40 |c work=Private school=Some-college status=Married-civ-spouse job=Adm-clerical
-1 |n:0.02 age:47 school_years:10 hours:40 |c work=Local-gov school=Some-college status=Never-married job=Adm-clerical
-1 |n:0.02 age:27 school_years:10 hours:20 |c work=Private school=Some-college status=Married-civ-spouse job=Adm-clerical
-1 |n:0.02 age:26 school_years:3 hours:40 |c work=Private school=5th-6th status=Never-married job=Transport-moving
-1 |n:0.02 age:18 school_years:9 hours:40 |c work=Private school=HS-grad status=Never-married job=Adm-clerical
1 |n:0.02 age:39 school_years:9 hours:55 |c work=Private school=HS-grad status=Married-civ-spouse job=Transport-moving
-1 |n:0.02 age:35 school_years:9 hours:30 |c work=Self-emp-not-inc school=HS-grad status=Married-civ-spouse job=Farming-fishing
-1 |n:0.02 age:48 school_years:10 hours:60 |c work=Private school=Some-college status=Married-civ-spouse job=Transport-moving
1 |n:0.02 age:45 school_years:13 hours:48 |c work=Private school=Bachelors status=Divorced job=Prof-specialty
1 |n:0.02 age:51 school_years:13 hours:40 |c work=Federal-gov school=Bachelors status=Married-civ-spouse job=Prof-specialty
-1 |n:0.02 age:18 school_years:10 hours:4 |c school=Some-college status=Never-married
-1 |n:0.02 age:39 school_years:10 hours:35 |c work=State-gov school=Some-college status=Divorced job=Adm-clerical
-1 |n:0.02 age:41 school_years:9 hours:25 |c work=Local-gov school=HS-grad status=Never-married job=Other-service
-1 |n:0.02 age:63 school_years:9 hours:40 |c work=Private school=HS-grad status=Divorced job=Sales
1 |n:0.02 age:42 school_years:14 hours:40 |c work=Federal-gov school=Masters status=Married-civ-spouse job=Prof-specialty
1 |n:0.02 age:45 school_years:12 hours:40 |c work=Federal-gov school=Assoc-acdm status=Married-civ-spouse job=Adm-clerical
-1 |n:0.02 age:29 school_years:10 hours:6 |c work=Private school=Some-college status=Married-civ-spouse job=Adm-clerical
1 |n:0.02 age:69 school_years:16 hours:50 |c work=State-gov school=Doctorate status=Married-civ-spouse job=Prof-specialty
-1 |n:0.02 age:27 school_years:9 hours:40 |c work=Private school=HS-grad status=Never-married job=Machine-op-inspct
-1 |n:0.02 age:30 school_years:9 hours:40 |c work=Private school=HS-grad status=Never-married job=Craft-repair
-1 |n:0.02 age:47 school_years:9 hours:45 |c work=Private school=HS-grad status=Divorced job=Sales
-1 |n:0.02 age:45 school_years:10 hours:40 |c work=Private school=Some-college status=Divorced job=Exec-managerial
-1 |n:0.02 age:44 school_years:10 hours:40 |c work=Private school=Some-college status=Divorced job=Adm-clerical
1 |n:0.02 age:49 school_years:10 hours:40 |c work=Private school=Some-college status=Married-civ-spouse job=Adm-clerical
1 |n:0.02 age:71 school_years:9 hours:40 |c work=Private school=HS-grad status=Married-civ-spouse job=Protective-serv
1 |n:0.02 age:40 school_years:16 hours:50 |c work=State-gov school=Doctorate status=Married-civ-spouse job=Prof-specialty
-1 |n:0.02 age:29 school_years:13 hours:40 |c work=Private school=Bachelors status=Never-married job=Handlers-cleaners
-1 |n:0.02 age:40 school_years:14 hours:40 |c work=Private school=Masters status=Never-married job=Prof-specialty
-1 |n:0.02 age:30 school_years:4 hours:50 |c work=Private school=7th-8th status=Never-married job=Craft-repair
-1 |n:0.02 age:26 school_years:9 hours:50 |c work=Private school=HS-grad status=Married-civ-spouse job=Prof-specialty
-1 |n:0.02 age:52 school_years:7 hours:20 |c work=Private school=11th status=Divorced job=Other-service
-1 |n:0.02 age:37 school_years:9 hours:50 |c work=Self-emp-not-inc school=HS-grad status=Divorced job=Craft-repair
-1 |n:0.02 age:19 school_years:9 hours:24 |c school=HS-grad status=Never-married
-1 |n:0.02 age:19 school_years:10 hours:40 |c work=Private school=Some-college status=Never-married job=Sales
1 |n:0.02 age:45 school_years:11 hours:42 |c work=Private school=Assoc-voc status=Married-civ-spouse job=Prof-specialty
-1 |n:0.02 age:53 school_years:9 hours:40 |c school=HS-grad status=Divorced
-1 |n:0.02 age:67 school_years:13 hours:40 |c work=Federal-gov school=Bachelors status=Widowed job=Adm-clerical
1 |n:0.02 age:29 school_years:13 hours:40 |c work=Private school=Bachelors status=Married-civ-spouse job=Prof-specialty
1 |n:0.02 age:51 school_years:9 hours:40 |c work=Local-gov school=HS-grad status=Married-civ-spouse job=Craft-repair
-1 |n:0.02 age:17 school_years:7 hours:15 |c work=Private school=11th status=Never-married job=Handlers-cleaners
-1 |n:0.02 age:31 school_years:9 hours:65 |c work=Private school=HS-grad status=Married-civ-spouse job=Other-service
-1 |n:0.02 age:37 school_years:9 hours:52 |c work=Private school=HS-grad status=Married-civ-spouse job=Transport-moving
-1 |n:0.02 age:25 school_years:13 hours:44 |c work=Private school=Bachelors status=Never-married job=Sales
-1 |n:0.02 age:64 school_years:4 hours:20 |c work=Self-emp-not-inc school=7th-8th status=Married-civ-spouse job=Craft-repair
-1 |n:0.02 age:41 school_years:10 hours:40 |c work=Private school=Some-college status=Married-civ-spouse job=Prof-specialty
-1 |n:0.02 age:54 school_years:9 hours:40 |c work=Private school=HS-grad status=Divorced job=Craft-repair
-1 |n:0.02 age:40 school_years:8 hours:40 |c work=Private school=12th status=Divorced job=Craft-repair
1 |n:0.02 age:49 school_years:10 hours:40 |c work=Private school=Some-college status=Married-civ-spouse job=Sales
-1 |n:0.02 age:70 school_years:11 hours:30 |c school=Assoc-voc status=Never-married
-1 |n:0.02 age:42 school_years:10 hours:40 |c work=Private school=Some-college status=Widowed job=Sales
1 |n:0.02 age:32 school_years:14 hours:40 |c work=Private school=Masters status=Married-civ-spouse job=Exec-managerial
-1 |n:0.02 age:34 school_years:9 hours:30 |c work=Private school=HS-grad status=Married-civ-spouse job=Craft-repair
-1 |n:0.02 age:18 school_years:10 hours:20 |c work=Private school=Some-college status=Never-married job=Adm-clerical
1 |n:0.02 age:59 school_years:10 hours:40 |c work=Private school=Some-college status=Married-civ-spouse job=Tech-support
-1 |n:0.02 age:21 school_years:9 hours:40 |c work=Private school=HS-grad status=Never-married job=Farming-fishing
-1 |n:0.02 age:58 school_years:7 hours:40 |c work=Private school=11th status=Married-civ-spouse job=Craft-repair
-1 |n:0.02 age:29 school_years:10 hours:40 |c work=Private school=Some-college status=Married-civ-spouse job=Prof-specialty
-1 |n:0.02 age:21 school_years:5 hours:50 |c work=Private school=9th status=Never-married job=Other-service
-1 |n:0.02 age:27 school_years:6 hours:40 |c work=Private school=10th status=Married-civ-spouse job=Machine-op-inspct
-1 |n:0.02 age:36 school_years:7 hours:23 |c work=Local-gov school=11th status=Never-married job=Other-service
-1 |n:0.02 age:43 school_years:13 hours:53 |c work=Federal-gov school=Bachelors status=Married-civ-spouse job=Handlers-cleaners
-1 |n:0.02 age:28 school_years:10 hours:35 |c work=Private school=Some-college status=Never-married job=Exec-managerial
1 |n:0.02 age:51 school_years:9 hours:40 |c work=Private school=HS-grad status=Married-civ-spouse job=Transport-moving
-1 |n:0.02 age:55 school_years:9 hours:32 |c work=Private school=HS-grad status=Married-civ-spouse job=Transport-moving
-1 |n:0.02 age:26 school_years:13 hours:10 |c school=Bachelors status=Never-married
1 |n:0.02 age:36 school_years:13 hours:50 |c work=Private school=Bachelors status=Married-civ-spouse job=Exec-managerial
-1 |n:0.02 age:33 school_years:9 hours:30 |c work=Private school=HS-grad status=Divorced job=Handlers-cleaners
-1 |n:0.02 age:38 school_years:9 hours:50 |c work=Private school=HS-grad status=Married-civ-spouse job=Craft-repair
-1 |n:0.02 age:50 school_years:9 hours:50 |c work=Private school=HS-grad status=Married-civ-spouse job=Machine-op-inspct
-1 |n:0.02 age:18 school_years:7 hours:15 |c work=Private school=11th status=Never-married job=Sales
-1 |n:0.02 age:33 school_years:9 hours:55 |c work=Private school=HS-grad status=Married-civ-spouse job=Transport-moving
-1 |n:0.02 age:18 school_years:8 hours:20 |c work=Private school=12th status=Never-married job=Sales
-1 |n:0.02 age:42 school_years:6 hours:40 |c work=Private school=10th status=Married-civ-spouse job=Exec-managerial
-1 |n:0.02 age:37 school_years:9 hours:40 |c work=Private school=HS-grad status=Never-married job=Transport-moving
-1 |n:0.02 age:23 school_years:13 hours:45 |c work=Private school=Bachelors status=Never-married job=Tech-support
-1 |n:0.02 age:46 school_years:5 hours:40 |c work=Private school=9th status=Married-civ-spouse job=Machine-op-inspct
-1 |n:0.02 age:39 school_years:13 hours:40 |c work=Private school=Bachelors status=Never-married job=Adm-clerical
